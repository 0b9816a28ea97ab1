/** Passes the questions of a turn to a gate, and the answers of the gate to the turn. */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { errorMessage } from '../../core/value/error.ts';
import type { RuntimeEvent, RuntimeEventData } from '../../projections/agenticx/agenticx-event.ts';
import type { ConfirmGate } from './confirm-gate.ts';

type ConfirmData = RuntimeEventData['confirm_required'];

/**
 * Kinds of waits that a gate answers: approvals, and questions of tools for a yes or no. Values and pauses are answered
 * elsewhere.
 */
const GATED_KINDS = new Set(['approval', 'question']);

export class GateAnswers {
  readonly #gate: ConfirmGate;
  readonly #client: RuntimeClient;
  readonly #open = new Map<string, AbortController>();

  constructor(gate: ConfirmGate, client: RuntimeClient) {
    this.#gate = gate;
    this.#client = client;
  }

  /**
   * Must resolve before an event is passed to its reader, who may answer it at once. A question that was answered
   * before it was read here is not asked.
   */
  async follow({ type, data }: RuntimeEvent): Promise<void> {
    if (type === 'confirm_response') this.#withdraw(data.id);
    if (type !== 'confirm_required' || !GATED_KINDS.has(data.context.kind)) return;
    if ((await this.#client.getWait(data.id)).state === 'open') void this.#ask(data);
  }

  /** Withdraws the questions from the gate: open waits stay open, to be answered elsewhere. */
  close(): void {
    for (const id of [...this.#open.keys()]) this.#withdraw(id);
  }

  async #ask({ id, question, context }: ConfirmData): Promise<void> {
    const withdrawn = new AbortController();
    this.#open.set(id, withdrawn);
    const decision = await this.#decide({ id, question, context }, withdrawn.signal);
    if (withdrawn.signal.aborted) return;
    const { approved } = decision;
    const answer = context.kind === 'question' ? { value: approved } : decision;
    // If it has been answered elsewhere in the meantime, that answer counts.
    await this.#client.answerWait(id, answer).catch(() => undefined);
  }

  async #decide({ question, context }: ConfirmData, signal: AbortSignal) {
    try {
      return { approved: (await this.#gate.requestConfirm(question, context, signal)) === true };
    } catch (error) {
      return { approved: false, reason: `The gate failed: ${errorMessage(error)}`.slice(0, 2000) };
    }
  }

  #withdraw(id: string): void {
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }
}
