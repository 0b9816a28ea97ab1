/**
 * The page's team manager over the engine: the subagents of a session, which are its descendant threads. One that has used up its rounds is paused, as the event
 * `subagent_paused` tells: it goes on where somebody speaks to it or lets it go on.
 */
import type { RuntimeClient } from '../client/runtime-client.ts';
import { RuntimeError } from '../core/value/error.ts';

export interface SubagentStatusRow {
  /** Its thread. */
  readonly agent_id: string;
  /** Its agent. */
  readonly role: string;
  readonly name: string | null;
  /** How many levels below the session. */
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

  /** All of them, each after its parent. Throws `ThreadNotFound` for a session that is not there. */
  async querySubagentStatus(): Promise<readonly SubagentStatusRow[]> {
    const family = await this.#client.getFamily(this.#session);
    const rows = family.flatMap(({ thread, depth }) => {
      const { id: agent_id, agent: role, name, status } = thread;
      return depth === 0 ? [] : [{ agent_id, role, name, depth, status }];
    });
    return Promise.all(
      rows.map(async (row) =>
        row.status === 'waiting' && (await this.#findPause(row.agent_id))
          ? { ...row, status: 'paused' }
          : row,
      ),
    );
  }

  /** Says something to one: at work, it hears it with its next round; paused or at rest, it goes on with its whole history. Throws `ThreadNotFound`. */
  async sendMessageToSubagent(agentId: string, message: string): Promise<void> {
    await this.#require(agentId);
    await this.#client.queueMessage(agentId, { content: message });
  }

  /** A paused one has as many rounds again. False where it is not paused, or somebody else was first. Throws `ThreadNotFound`. */
  async resumeSubagent(agentId: string, by?: string): Promise<boolean> {
    await this.#require(agentId);
    const wait = await this.#findPause(agentId);
    if (!wait) return false;
    const { outcome } = await this.#client.answerWait(wait.id, {
      approved: true,
      ...(by === undefined ? {} : { by }),
    });
    return outcome === 'taken';
  }

  /** Ends what it does now. Throws `ThreadNotFound`, and for one at rest `ExecutionNotCancelable` or `ExecutionNotFound`. */
  async cancelSubagent(agentId: string, reason?: string): Promise<void> {
    await this.#require(agentId);
    await this.#client.cancelExecution(agentId, reason === undefined ? {} : { reason });
  }

  async #findPause(agentId: string) {
    const waits = await this.#client.listWaits({ threadId: agentId });
    return waits.find(({ kind, threadId }) => kind === 'paused' && threadId === agentId);
  }

  /** Nobody reaches a thread of another session by its id. */
  async #require(agentId: string): Promise<void> {
    const family = await this.#client.getFamily(this.#session);
    if (family.some(({ thread, depth }) => depth > 0 && thread.id === agentId)) return;
    throw new RuntimeError('ThreadNotFound', `The session "${this.#session}" has no subagent "${agentId}".`);
  }
}
