import {
  type DisplayValueAlignmentFactors,
  type FieldDisplay,
  getDisplayValueAlignmentFactors,
  VizOrientation,
} from "@grafana/data";
import {
  BigValue,
  BigValueColorMode,
  BigValueGraphMode,
  BigValueJustifyMode,
  BigValueTextMode,
  VizRepeater,
  type VizRepeaterRenderValueProps,
} from "@grafana/ui";
import type { DrawnPanel } from "./drawnPanel.ts";
import { flag, numberOption, oneOf, part } from "./option.ts";
import { reducedValues } from "./reduced.ts";

/** Big numbers, by Grafana's `BigValue`. */
export function StatPanel(drawn: DrawnPanel) {
  const { panel, width, height, theme, timeRange } = drawn;
  const { options } = panel;
  const graphMode = oneOf(options, "graphMode", [
    BigValueGraphMode.Area,
    BigValueGraphMode.None,
    BigValueGraphMode.Line,
  ]);
  const textMode = oneOf(options, "textMode", [
    BigValueTextMode.Auto,
    BigValueTextMode.Value,
    BigValueTextMode.ValueAndName,
    BigValueTextMode.Name,
    BigValueTextMode.None,
  ]);
  const colorMode = oneOf(options, "colorMode", [
    BigValueColorMode.Value,
    BigValueColorMode.Background,
    BigValueColorMode.BackgroundSolid,
    BigValueColorMode.None,
  ]);
  const justifyMode = oneOf(options, "justifyMode", [BigValueJustifyMode.Auto, BigValueJustifyMode.Center]);
  const text = part(options, "text");
  const [titleSize, valueSize] = [numberOption(text, "titleSize"), numberOption(text, "valueSize")];
  const sizes = {
    ...(titleSize === undefined ? {} : { titleSize }),
    ...(valueSize === undefined ? {} : { valueSize }),
  };
  const value = ({
    value: one,
    width: w,
    height: h,
    count,
    alignmentFactors,
  }: VizRepeaterRenderValueProps<FieldDisplay, DisplayValueAlignmentFactors>) => (
    <BigValue
      value={one.display}
      {...(one.sparkline === undefined ? {} : { sparkline: { ...one.sparkline, timeRange } })}
      count={count}
      width={w}
      height={h}
      theme={theme}
      text={sizes}
      alignmentFactors={alignmentFactors}
      colorMode={colorMode}
      graphMode={graphMode}
      justifyMode={justifyMode}
      textMode={textMode}
      disableWideLayout={!flag(options, "wideLayout", true)}
    />
  );
  return (
    <VizRepeater
      getValues={() => reducedValues(drawn, graphMode !== BigValueGraphMode.None)}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={value}
      width={width}
      height={height}
      source={drawn.frames}
      itemSpacing={3}
      renderCounter={0}
      autoGrid={true}
      orientation={oneOf(options, "orientation", [
        VizOrientation.Auto,
        VizOrientation.Horizontal,
        VizOrientation.Vertical,
      ])}
    />
  );
}
