package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/**
 * Spark is hundreds of megabytes, which only the build of its profile downloads; users of the library do not get it.
 */
class SparkProfileTest {
    private static final String SPARK = "dependency[groupId='org.apache.spark']";

    private static Document pom;

    @BeforeAll
    static void readPom() throws Exception {
        pom = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(Path.of("pom.xml").toFile());
    }

    private static List<String> texts(String path) throws Exception {
        NodeList found = (NodeList) XPathFactory.newInstance().newXPath().evaluate(path, pom, XPathConstants.NODESET);
        return IntStream.range(0, found.getLength())
                .mapToObj(i -> found.item(i).getTextContent())
                .toList();
    }

    @Test
    void default_build_has_no_spark() throws Exception {
        assertThat(texts("/project/dependencies/dependency/groupId")).hasSizeGreaterThan(10);
        assertThat(texts("/project/dependencies/" + SPARK)).isEmpty();
        assertThat(texts("/project/build//" + SPARK)).isEmpty();
        assertThat(texts("/project/profiles/profile[activation][.//" + SPARK + "]/id"))
                .isEmpty();
    }

    @Test
    void spark_has_provided_scope_in_its_profile() throws Exception {
        assertThat(texts("/project/profiles/profile[.//" + SPARK + "]/id")).containsExactly("spark");
        assertThat(texts("//" + SPARK + "/scope")).hasSize(3).containsOnly("provided");
        assertThat(texts("//" + SPARK + "/artifactId")).hasSize(3);
    }
}
