/**
 * Tool names of tasks that agents start. An author writes `task:<name>`; models, calls, rules and logs use a name that
 * every provider accepts.
 */
import { toProviderName } from './mcp-tool.ts';

export const TASK_PREFIX = 'task:';

/** The capability that a call that starts a task requires. */
export const TASK_CAPABILITY = 'task.start';

/** Returns the name of the task; undefined if `written` is of another kind. */
export function parseTaskName(written: string): string | undefined {
  const name = written.startsWith(TASK_PREFIX) ? written.slice(TASK_PREFIX.length) : '';
  return name === '' ? undefined : name;
}

/** The tool name that models are offered. */
export function taskToolName(task: string): string {
  return toProviderName(`task__${task}`);
}
