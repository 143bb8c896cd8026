package io.roseinfer.hub;

import java.net.URI;
import java.util.Locale;
import java.util.regex.Pattern;

/** Scheme, host and port of a web address: the scope of a token. */
record Origin(String scheme, String host, int port) {
    private static final Pattern LOOPBACK =
            Pattern.compile("localhost|.*\\.localhost|127(\\.[0-9]{1,3}){3}|\\[(::1|0:0:0:0:0:0:0:1)]");

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

    /** Returns whether requests can be read in transit: plain HTTP to another machine. */
    boolean isInTheClear() {
        return scheme.equals("http") && !LOOPBACK.matcher(host).matches();
    }
}
