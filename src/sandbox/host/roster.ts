/** The children of one pool: those that serve, those that were killed on purpose and are not gone yet, and which of them to take. */
import { SANDBOX_LIMITS } from '../limits.ts';
import type { Tenant } from './line.ts';
import type { Member, Use } from './member.ts';

/** So long after a run a child may still be making its next isolate. */
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

  /** Children that have served no tenant, starting or ready. */
  get unused(): number {
    return this.serving.filter(({ tenant }) => tenant === undefined).length;
  }

  /** Runs outside the pool. One that is ending has left its room to another. */
  get outside(): number {
    return this.uses.filter(({ isOutside, isEnding }) => isOutside && !isEnding).length;
  }

  /** The age of the run that will be a long one next. */
  get nextLongAge(): number | undefined {
    const ages = this.uses.map(({ begunAt }) => performance.now() - begunAt);
    const young = ages.filter((age) => age < SANDBOX_LIMITS.longRunMs);
    return young.length === 0 ? undefined : Math.max(...young);
  }

  add(member: Member): void {
    this.#serving.add(member);
  }

  /** It is gone. Answers whether it was still serving. */
  remove(member: Member): boolean {
    this.#retired.delete(member);
    return this.#serving.delete(member);
  }

  /** Ends a child that is of no more use. What it still says is not heard. */
  retire(member: Member): void {
    this.#serving.delete(member);
    this.#retired.add(member);
    member.child.kill();
  }

  /**
   * The tenant's own that has rested longest, so that its next isolate is made; else one that has served no tenant. Such a one comes
   * first, too, while the tenant has few of its own and the next isolate would have to be waited for.
   */
  freeFor(tenant: Tenant, most: number): Member | undefined {
    const own = this.serving.filter((each) => each.tenant === tenant);
    const rested = own.filter(isFree).sort(byRest)[0];
    const unused = this.serving.find((each) => isFree(each) && each.tenant === undefined);
    if (!rested || !unused) return rested ?? unused;
    const isFresh = performance.now() - (rested.freeSince ?? 0) < FRESH_ISOLATE_MS;
    return own.length < most && isFresh ? unused : rested;
  }

  /** Children without a run, starting or at rest, that are too many: those of tenants first, the longest unused before all. */
  surplus(most: number): readonly Member[] {
    const idle = this.serving.filter(({ use }) => !use);
    const used = idle.filter(({ tenant }) => tenant !== undefined).sort(byRest);
    const unused = idle.filter(({ tenant }) => tenant === undefined);
    return [...used, ...unused].slice(0, Math.max(0, idle.length - most));
  }
}

const isFree = ({ freeSince }: Member): boolean => freeSince !== undefined;

const byRest = (one: Member, other: Member): number => (one.freeSince ?? 0) - (other.freeSince ?? 0);
