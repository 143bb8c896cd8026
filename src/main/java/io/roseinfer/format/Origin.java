package io.roseinfer.format;

import java.net.URI;
import java.util.Locale;

/** Scheme, host and port of a web address: the border that a token does not cross. */
record Origin(String scheme, String host, int port) {

    static Origin of(URI uri) {
        String scheme = lower(uri.getScheme());
        int port = uri.getPort() >= 0 ? uri.getPort() : scheme.equals("https") ? 443 : 80;
        return new Origin(scheme, lower(uri.getHost()), port);
    }

    static boolean isWeb(URI uri) {
        String scheme = uri.getScheme() == null ? "" : lower(uri.getScheme());
        return (scheme.equals("http") || scheme.equals("https")) && uri.getHost() != null;
    }

    private static String lower(String text) {
        return text.toLowerCase(Locale.ROOT);
    }
}
