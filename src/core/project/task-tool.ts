/**
 * Names of tasks that agents start. An author writes `task:<name>`; models are offered a name that every provider takes, and calls, rules and
 * logs have that one.
 */
import { toProviderName } from './mcp-tool.ts';

export const TASK_PREFIX = 'task:';

/** What a call of it needs to be allowed. */
export const TASK_CAPABILITY = 'task.start';

/** Undefined for a name of another kind. */
export function parseTaskName(written: string): string | undefined {
  const name = written.startsWith(TASK_PREFIX) ? written.slice(TASK_PREFIX.length) : '';
  return name === '' ? undefined : name;
}

/** The name that models call it by. */
export function taskToolName(task: string): string {
  return toProviderName(`task__${task}`);
}
