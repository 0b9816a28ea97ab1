/**
 * What a thread's workflow has heard from its family (runtime §8): that a child has reported, that something lies in its queue
 * which it did not put there, that children wait to be started. The store has all of it; these are hints to look.
 * F1. Of more reports than are remembered, any may be the one that is waited for: a look in vain does no harm.
 */
import { LIMITS } from '../core/limit.ts';
import type { WakePayload } from './messages.ts';

export class FamilyWatch {
  /** The thread has had children. */
  isParent = false;
  /** The thread has ended, and the store holds no report that its parent has not heard. */
  silent = false;
  /** A report to the parent is stored and may not be delivered. */
  reportDue = false;
  /** Children are stored whose workflows nobody has started. */
  bootDue = false;
  /** Their starts are under way: a run that ended now might take them along. */
  booting = false;
  readonly #heard = new Set<string>();

  hear({ reportOf, boot }: WakePayload): void {
    if (boot) this.bootDue = true;
    if (reportOf !== undefined && this.#heard.size < LIMITS.heardReports) this.#heard.add(reportOf);
  }

  /** Has the child reported since the thread began to listen? It waits for one child at a time. */
  hasHeard(childId: string): boolean {
    return this.#heard.has(childId) || this.#heard.size >= LIMITS.heardReports;
  }

  /** From now on. */
  listen(): void {
    this.#heard.clear();
  }
}
