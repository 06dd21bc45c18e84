import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Express } from "express";
import { dashboardUid } from "../../../alerts/dashboardUid.ts";
import type { AlertsConfig } from "../../../alerts/thresholds.ts";
import { dashboardList } from "../../../dashboards/dashboardList.ts";
import { dashboardFiles } from "../../../dashboards/output/dashboardFiles.ts";
import { defaultDashboards } from "../../../dashboards/settings.ts";
import type { BoardsOptions } from "./boardsApp.ts";
import { createBoardsApp } from "./boardsApp.ts";
import { preparePreview, previewRoot } from "./preview.ts";

/** The pages of all dashboards, and how to remove what was built for them. */
export interface PreparedBoards {
  readonly app: Express;
  /** Removes what was built. */
  remove(): Promise<void>;
}

/** What a demo gives to its boards. */
export interface BoardsInput extends Omit<BoardsOptions, "sources" | "boards"> {
  /** Address of its Prometheus. */
  readonly prometheus: string;
  /** The settings of its alerts, whose limits the dashboards show. */
  readonly alerts: AlertsConfig;
  readonly say: (line: string) => void;
}

/**
 * Builds the page that draws dashboards, and writes the dashboards. Rejects, with the next step, where that is not possible.
 */
export async function prepareBoards({ prometheus, alerts, say, ...options }: BoardsInput): Promise<PreparedBoards> {
  const folder = await mkdtemp(path.join(tmpdir(), "fairlead-boards-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const [build, dashboards] = [path.join(folder, "build"), path.join(folder, "dashboards")];
  try {
    await preparePreview(build, say);
    await mkdir(dashboards);
    const files = dashboardFiles(defaultDashboards, alerts);
    const boards = dashboardList.map(({ name, title }) => ({
      file: `${dashboardUid(name)}.json`,
      title: title.replace(/^Fairlead: /, ""),
    }));
    for (const { file } of boards) await writeFile(path.join(dashboards, file), files[file] ?? "");
    const sources = { root: previewRoot, build, dashboards, prometheus };
    return { app: createBoardsApp({ ...options, sources, boards }), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
