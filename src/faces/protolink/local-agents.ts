/** Agents of this process, by the `runtime://` address of their card: an AgentClient reaches them without a server. */
import { RuntimeError } from '../../core/value/error.ts';
import type { RunEvent } from '../../projections/run/run-event.ts';
import type { Task } from './task.ts';

export interface LocalAgent {
  handleTaskStreaming(task: Task): AsyncGenerator<RunEvent>;
  cancelTask(id: string, reason?: string): Promise<Task>;
}

const SCHEME = 'runtime://';
const AGENTS = new Map<string, LocalAgent>();

/** Makes an agent known until `forgetAgent`; of several with one address, the newest is reached. */
export function rememberAgent(url: string | undefined, agent: LocalAgent): void {
  if (url?.startsWith(SCHEME)) AGENTS.set(url, agent);
}

export function forgetAgent(url: string | undefined, agent: LocalAgent): void {
  if (url !== undefined && AGENTS.get(url) === agent) AGENTS.delete(url);
}

/** Undefined for an address of another kind. Throws `AgentNotFound`. */
export function findAgent(url: string): LocalAgent | undefined {
  if (!url.startsWith(SCHEME)) return undefined;
  const agent = AGENTS.get(url);
  if (agent) return agent;
  throw new RuntimeError(
    'AgentNotFound',
    `No agent of this process has the url "${url}": create one with a card that has it, and close it after its last task.`,
  );
}
