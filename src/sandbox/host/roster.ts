/** The children of one pool, in service or killed on purpose and not ended yet, and the choice among them. */
import { SANDBOX_LIMITS } from '../limits.ts';
import type { Member, Use } from './member.ts';
import type { Tenant } from './run-queue.ts';

/** Milliseconds after a run in which a child may still be making its next isolate. */
const FRESH_ISOLATE_MS = 20;

export class Roster {
  readonly #serving = new Set<Member>();
  readonly #retired = new Set<Member>();

  get serving(): readonly Member[] {
    return [...this.#serving];
  }

  get all(): readonly Member[] {
    return [...this.#serving, ...this.#retired];
  }

  get uses(): readonly Use[] {
    return this.serving.flatMap(({ use }) => use ?? []);
  }

  /** Number of children that have served no tenant, starting or ready. */
  get unused(): number {
    return this.serving.filter(({ tenant }) => tenant === undefined).length;
  }

  /** Number of runs outside the pool. One that is ending has already left its room to another. */
  get outside(): number {
    return this.uses.filter(({ isOutside, isEnding }) => isOutside && !isEnding).length;
  }

  /** Age in milliseconds of the run that will be a long one next; undefined if there is none. */
  get nextLongAge(): number | undefined {
    const ages = this.uses.map(({ begunAt }) => performance.now() - begunAt);
    const young = ages.filter((age) => age < SANDBOX_LIMITS.longRunMs);
    return young.length === 0 ? undefined : Math.max(...young);
  }

  add(member: Member): void {
    this.#serving.add(member);
  }

  /** Removes a child that has ended. Returns whether it was still in service. */
  remove(member: Member): boolean {
    this.#retired.delete(member);
    return this.#serving.delete(member);
  }

  /** Kills a child that is no longer needed. Its further messages are ignored. */
  retire(member: Member): void {
    this.#serving.delete(member);
    this.#retired.add(member);
    member.child.kill();
  }

  /**
   * Returns the tenant's child that has been free longest, so that its next isolate is made; else an unused one. An
   * unused one is preferred if the tenant has fewer than `most`, and its own may still be making their isolates.
   */
  freeFor(tenant: Tenant, most: number): Member | undefined {
    const own = this.serving.filter((each) => each.tenant === tenant);
    const rested = own.filter(isFree).sort(byFreeSince)[0];
    const unused = this.serving.find((each) => isFree(each) && each.tenant === undefined);
    if (!rested || !unused) return rested ?? unused;
    const isFresh = performance.now() - (rested.freeSince ?? 0) < FRESH_ISOLATE_MS;
    return own.length < most && isFresh ? unused : rested;
  }

  /** Returns idle or starting children beyond `most`: those of tenants first, and of these the longest free. */
  surplus(most: number): readonly Member[] {
    const idle = this.serving.filter(({ use }) => !use);
    const used = idle.filter(({ tenant }) => tenant !== undefined).sort(byFreeSince);
    const unused = idle.filter(({ tenant }) => tenant === undefined);
    return [...used, ...unused].slice(0, Math.max(0, idle.length - most));
  }
}

const isFree = ({ freeSince }: Member): boolean => freeSince !== undefined;

const byFreeSince = (one: Member, other: Member): number => (one.freeSince ?? 0) - (other.freeSince ?? 0);
