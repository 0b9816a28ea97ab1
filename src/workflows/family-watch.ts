/**
 * What a thread's workflow knows of its family (runtime §8): which children have reported, whether children must be
 * started, and whether a report to the parent is due. The durable state is in the store; these are hints to ask it.
 */
import { HeardIds } from './heard-ids.ts';
import type { WakePayload } from './messages.ts';

export class FamilyWatch {
  #isParent = false;
  #toldOfEnd = false;
  #reportDue = false;
  #bootDue = false;
  #booting = false;
  readonly #reports = new HeardIds();

  /** True if the thread has had children. */
  get isParent(): boolean {
    return this.#isParent;
  }

  /** True if the thread has ended and no report to its parent is due. */
  get toldOfEnd(): boolean {
    return this.#toldOfEnd;
  }

  /** True if a report to the parent is stored and may not have been delivered. */
  get reportDue(): boolean {
    return this.#reportDue;
  }

  /** True if the store has children whose workflows have not been started. */
  get bootDue(): boolean {
    return this.#bootDue;
  }

  /** True while children are being started: if the run ended now, their starts might be lost. */
  get booting(): boolean {
    return this.#booting;
  }

  /** Takes the state from the store when the run opens. */
  open(opened: { readonly parent?: true; readonly reportDue?: true; readonly unstarted?: true }): void {
    this.#isParent = opened.parent === true;
    this.#reportDue = opened.reportDue === true;
    if (opened.unstarted) this.#bootDue = true;
  }

  haveChild(): void {
    this.#isParent = true;
  }

  oweReport(): void {
    this.#reportDue = true;
  }

  /** Records that the activity has delivered the due report. */
  reportDelivered(): void {
    this.#reportDue = false;
  }

  /** Records the end of the thread. `reportDue`: its last report has not been delivered to the parent yet. */
  end({ reportDue }: { readonly reportDue: boolean }): void {
    this.#toldOfEnd = !reportDue;
  }

  beginBoot(): void {
    this.#bootDue = false;
    this.#booting = true;
  }

  endBoot(): void {
    this.#booting = false;
  }

  receive({ reportOf, waitOf, boot }: WakePayload): void {
    if (boot) this.#bootDue = true;
    const child = reportOf ?? waitOf;
    if (child !== undefined) this.#reports.hear(child);
  }

  /** True if the child has reported, or its waits have changed, after `since`. */
  hasReported(childId: string, since: number): boolean {
    return this.#reports.hasSince(childId, since);
  }

  /** The point from which on signals concern what is asked next: pass it to `hasReported`. */
  listen(): number {
    return this.#reports.count;
  }
}

/** Counts the signals of relatives that have settled something. Only a hint to ask again: the store has the state. */
export class BudgetWatch {
  #signalCount = 0;

  get signalCount(): number {
    return this.#signalCount;
  }

  receive(): void {
    this.#signalCount += 1;
  }
}
