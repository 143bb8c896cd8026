package io.roseinfer.backend.cpu.panama;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.PanelProduct;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.util.function.Function;

/** Hands each matrix to the product made for its format. */
final class FormatProducts implements PanelProduct {
    private final PanelProduct[] products;

    FormatProducts(Function<WeightFormat, PanelProduct> products) {
        WeightFormat[] formats = WeightFormat.values();
        this.products = new PanelProduct[formats.length];
        for (WeightFormat format : formats) {
            this.products[format.ordinal()] = products.apply(format);
        }
    }

    @Override
    public int tallestTile() {
        return products[0].tallestTile();
    }

    @Override
    public void multiply(float[] x, int rows, PackedMatrix weights, int panel, float[] sums) {
        products[weights.format().ordinal()].multiply(x, rows, weights, panel, sums);
    }
}
