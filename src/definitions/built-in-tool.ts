/**
 * Built-in tools of every project. Prompts list them by name like the project's own tools; their names are reserved.
 */
import type { Registry, ToolDefinition } from '../core/author/definition.ts';
import { RUN_CODE } from './run-code-tool.ts';
import { STATUS_QUERY_TOOL } from './status-query-tool.ts';

export const BUILT_IN_TOOLS: ReadonlyMap<string, ToolDefinition> = new Map(
  [RUN_CODE, STATUS_QUERY_TOOL].map((tool) => [tool.name, tool]),
);

/** Returns the names of the tools that the project defines itself. */
export function ownToolNames({ tools }: Registry): string[] {
  return [...tools.values()].flatMap(({ name, remote, a2a, startsTask }) =>
    remote || a2a || startsTask !== undefined || BUILT_IN_TOOLS.has(name) ? [] : [name],
  );
}
