/**
 * What a thread's workflow knows of its family (runtime §8): that a child has reported, that something lies in its queue
 * which it did not put there, that children wait to be started. The store has all of it; these are hints to look.
 * F1. Of more reports than are remembered, any may be the one that is waited for: a look in vain does no harm.
 */
import { LIMITS } from '../core/value/limit.ts';
import type { WakePayload } from './messages.ts';

export class FamilyWatch {
  #isParent = false;
  #toldOfEnd = false;
  #reportDue = false;
  #bootDue = false;
  #booting = false;
  readonly #heard = new Set<string>();

  /** The thread has had children. */
  get isParent(): boolean {
    return this.#isParent;
  }

  /** The thread has ended, and the store holds no report that its parent has not heard. */
  get toldOfEnd(): boolean {
    return this.#toldOfEnd;
  }

  /** A report to the parent is stored and may not be delivered. */
  get reportDue(): boolean {
    return this.#reportDue;
  }

  /** Children are stored whose workflows nobody has started. */
  get bootDue(): boolean {
    return this.#bootDue;
  }

  /** Their starts are under way: a run that ended now might take them along. */
  get booting(): boolean {
    return this.#booting;
  }

  /** What the store says as the run opens. */
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

  /** The activity has delivered what was due. */
  reportDelivered(): void {
    this.#reportDue = false;
  }

  /** `reportDue`: its last words have yet to reach the parent. */
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

  hear({ reportOf, waitOf, boot }: WakePayload): void {
    if (boot) this.#bootDue = true;
    const child = reportOf ?? waitOf;
    if (child !== undefined && this.#heard.size < LIMITS.heardReports) this.#heard.add(child);
  }

  /** Has the child reported, or come to wait for people, since the thread began to listen? It waits for one child at a time. */
  hasHeard(childId: string): boolean {
    return this.#heard.has(childId) || this.#heard.size >= LIMITS.heardReports;
  }

  /** From now on. */
  listen(): void {
    this.#heard.clear();
  }
}
