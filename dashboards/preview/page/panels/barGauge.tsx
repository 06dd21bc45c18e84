import {
  type DisplayValueAlignmentFactors,
  type FieldDisplay,
  getDisplayValueAlignmentFactors,
  VizOrientation,
} from "@grafana/data";
import { BarGaugeDisplayMode, BarGaugeNamePlacement, BarGaugeValueMode } from "@grafana/schema";
import { BarGauge, VizRepeater, type VizRepeaterRenderValueProps } from "@grafana/ui";
import type { DrawnPanel } from "./drawnPanel.ts";
import { flag, numberOption, oneOf } from "./option.ts";
import { reducedValues } from "./reduced.ts";

/** Bars for single values, by Grafana's `BarGauge`. */
export function BarGaugePanel(drawn: DrawnPanel) {
  const { panel, width, height, theme } = drawn;
  const { options } = panel;
  const asked = oneOf(options, "orientation", [
    VizOrientation.Auto,
    VizOrientation.Horizontal,
    VizOrientation.Vertical,
  ]);
  const orientation =
    asked !== VizOrientation.Auto ? asked : width > height ? VizOrientation.Vertical : VizOrientation.Horizontal;
  const displayMode = oneOf(options, "displayMode", [
    BarGaugeDisplayMode.Gradient,
    BarGaugeDisplayMode.Basic,
    BarGaugeDisplayMode.Lcd,
  ]);
  const valueMode = oneOf(options, "valueMode", [
    BarGaugeValueMode.Color,
    BarGaugeValueMode.Text,
    BarGaugeValueMode.Hidden,
  ]);
  const namePlacement = oneOf(options, "namePlacement", [
    BarGaugeNamePlacement.Auto,
    BarGaugeNamePlacement.Left,
    BarGaugeNamePlacement.Top,
    BarGaugeNamePlacement.Hidden,
  ]);
  const values = reducedValues(drawn, false);
  const least = numberOption(options, "minVizHeight") ?? 16;
  // Bars that do not fit can be scrolled to, as in Grafana.
  const needed = values.length * (least + 10) - 10;
  const isScrolled = orientation === VizOrientation.Horizontal && needed > height;
  const bar = ({
    value,
    width: w,
    height: h,
    alignmentFactors,
  }: VizRepeaterRenderValueProps<FieldDisplay, DisplayValueAlignmentFactors>) => (
    <BarGauge
      value={value.display}
      field={value.field}
      {...(value.view === undefined || value.colIndex === undefined
        ? {}
        : { display: value.view.getFieldDisplayProcessor(value.colIndex) })}
      width={w}
      height={h}
      theme={theme}
      orientation={orientation}
      alignmentFactors={alignmentFactors}
      displayMode={displayMode}
      valueDisplayMode={valueMode}
      namePlacement={namePlacement}
      showUnfilled={flag(options, "showUnfilled", true)}
      itemSpacing={10}
      lcdCellWidth={12}
    />
  );
  return (
    <div
      style={{ height, overflow: "hidden" }}
      {...(isScrolled ? { "data-cut": `${values.length} bars need ${needed} px` } : {})}
    >
      <VizRepeater
        getValues={() => values}
        getAlignmentFactors={getDisplayValueAlignmentFactors}
        renderValue={bar}
        width={width}
        height={isScrolled ? needed : height}
        minVizWidth={numberOption(options, "minVizWidth") ?? 8}
        minVizHeight={least}
        maxVizHeight={numberOption(options, "maxVizHeight") ?? 300}
        source={drawn.frames}
        itemSpacing={10}
        renderCounter={0}
        autoGrid={true}
        orientation={orientation}
      />
    </div>
  );
}
