/** Lists actions, and records the outcome of uncertain ones: needs only the store. */
import { ACTION_STATES, type ActionState } from '../core/governance/agent-policy.ts';
import { RuntimeError } from '../core/value/error.ts';
import { isStorable } from '../core/value/storable-text.ts';
import { BY_CHARS } from '../core/wait/answer.ts';
import { NOTE_CHARS, type Reconciliation } from '../core/wait/reconciliation.ts';
import type { ActionRecord, ListActions } from '../store/action/action-record.ts';
import type { ThreadStore } from '../store/store.ts';
import type { ReconciledAction } from '../store/wait/wait-record.ts';

export type Reconciled = Omit<Extract<ReconciledAction, { kind: 'reconciled' }>, 'kind'>;

export class StoredActions {
  readonly #store: ThreadStore;

  constructor(store: ThreadStore) {
    this.#store = store;
  }

  /** Newest first. Throws `InvalidValue` for an unknown state or an invalid limit. */
  async listActions(options: ListActions = {}): Promise<readonly ActionRecord[]> {
    const { state, limit } = options;
    if (state !== undefined && !isActionState(state))
      throw new RuntimeError(
        'InvalidValue',
        `"${String(state)}" is not a state of an action: use one of ${ACTION_STATES.join(', ')}.`,
      );
    if (limit !== undefined && !(Number.isInteger(limit) && limit > 0))
      throw new RuntimeError('InvalidValue', '"limit" must be a whole number above 0.');
    return this.#store.actions.list(options);
  }

  /**
   * Records the outcome of an uncertain action. `wait` is the wait that asked for it: its thread must be notified.
   * Throws as the client's `reconcileAction` does.
   */
  async reconcile(id: string, { completed, note, by }: Reconciliation): Promise<Reconciled> {
    if (typeof completed !== 'boolean')
      throw new RuntimeError('InvalidValue', '"completed" must be true or false.');
    const reconciliation = {
      completed,
      ...givenText('note', note, NOTE_CHARS),
      ...givenText('by', by, BY_CHARS),
    };
    const reconciled = await this.#store.actions.reconcile(id, reconciliation);
    if (reconciled.kind === 'reconciled') return reconciled;
    if (reconciled.kind === 'unknown')
      throw new RuntimeError('ActionNotFound', `There is no action "${id}".`);
    const { state } = reconciled.action;
    throw new RuntimeError(
      'ActionNotUncertain',
      `The action "${id}" is ${state}: there is nothing to reconcile.`,
    );
  }
}

export function isActionState(value: unknown): value is ActionState {
  return ACTION_STATES.includes(value as ActionState);
}

/** The text under its name; nothing if it is undefined. Throws `InvalidValue`. */
export function givenText<Name extends string>(
  name: Name,
  value: unknown,
  most: number,
): { readonly [Key in Name]?: string } {
  if (value === undefined) return {};
  if (typeof value !== 'string' || value.length > most || !isStorable(value))
    throw new RuntimeError(
      'InvalidValue',
      `"${name}" must be a string of at most ${most} characters, all of which can be stored.`,
    );
  return { [name]: value } as { readonly [Key in Name]?: string };
}
