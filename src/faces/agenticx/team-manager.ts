/**
 * AgenticX's team manager on top of the engine: it manages the subagents of a session, which are its descendant
 * threads. A subagent that has used up its rounds is paused, and the event `subagent_paused` reports it. It continues
 * once it receives a message or is resumed.
 */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { findPause } from './turn.ts';

export interface SubagentStatusRow {
  /** Id of its thread. */
  readonly agent_id: string;
  /** Name of its agent. */
  readonly role: string;
  readonly name: string | null;
  /** Number of levels below the session. */
  readonly depth: number;
  /** `paused`, else the status of its thread: `running`, `waiting`, `idle`, `stopped`, `failed` or `terminated`. */
  readonly status: string;
}

/**
 * @example
 * ```ts
 * const team = new TeamManager(client, 'session-1');
 * for (const { agent_id, status } of await team.querySubagentStatus())
 *   if (status === 'paused') await team.resumeSubagent(agent_id);
 * ```
 */
export class TeamManager {
  readonly #client: RuntimeClient;
  readonly #session: string;

  /** `session`: a thread's id. */
  constructor(client: RuntimeClient, session: string) {
    this.#client = client;
    this.#session = session;
  }

  /** All subagents, each after its parent. Throws `ThreadNotFound` for a session that does not exist. */
  async querySubagentStatus(): Promise<readonly SubagentStatusRow[]> {
    const family = await this.#client.getFamily(this.#session);
    const rows = family.flatMap(({ thread, depth }) => {
      const { id: agent_id, agent: role, name, lastStep } = thread;
      // It was made with a message that its first step is still to take.
      const status = thread.status === 'idle' && lastStep === 0 ? 'running' : thread.status;
      return depth === 0 ? [] : [{ agent_id, role, name, depth, status }];
    });
    return Promise.all(
      rows.map(async (row) =>
        row.status === 'waiting' && (await findPause(this.#client, row.agent_id))
          ? { ...row, status: 'paused' }
          : row,
      ),
    );
  }

  /**
   * Sends a message to a subagent. If it is working, its next round reads the message; if it is paused or at rest, it
   * continues with its whole history. Throws `ThreadNotFound`.
   */
  async sendMessageToSubagent(agentId: string, message: string): Promise<void> {
    await this.#require(agentId);
    await this.#client.queueMessage(agentId, { content: message });
  }

  /**
   * Resumes a paused subagent, with as many rounds again. False if it is not paused, or another caller was first.
   * Throws `ThreadNotFound`.
   */
  async resumeSubagent(agentId: string, by?: string): Promise<boolean> {
    await this.#require(agentId);
    const wait = await findPause(this.#client, agentId);
    if (!wait) return false;
    const { outcome } = await this.#client.answerWait(wait.id, {
      approved: true,
      ...(by === undefined ? {} : { by }),
    });
    return outcome === 'taken';
  }

  /**
   * Cancels the current execution of a subagent. Throws `ThreadNotFound`, and for one at rest `ExecutionNotCancelable`
   * or `ExecutionNotFound`.
   */
  async cancelSubagent(agentId: string, reason?: string): Promise<void> {
    await this.#require(agentId);
    await this.#client.cancelExecution(agentId, reason === undefined ? {} : { reason });
  }

  /** Throws `ThreadNotFound` for a thread of another session. */
  async #require(agentId: string): Promise<void> {
    const family = await this.#client.getFamily(this.#session);
    if (family.some(({ thread, depth }) => depth > 0 && thread.id === agentId)) return;
    throw new RuntimeError('ThreadNotFound', `The session "${this.#session}" has no subagent "${agentId}".`);
  }
}
