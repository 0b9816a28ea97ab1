/**
 * Who is served next. Tenants take turns, whatever each has in line, and those of one tenant keep their order.
 * L1. Runs outside the pool go first: the runs that wait for them hold places already.
 * L2. A free place goes to a tenant that holds the fewest; among those, to the one whose turn is longest ago.
 * L3. A tenant that holds no place gets one beyond the pool's size for each run that has kept its own place for long:
 *     endless programs of one tenant never keep another from beginning. No run is ended for it; the kernel shares the processor.
 */

/** Whose code a run is. */
export type Tenant = string | symbol;

export interface InLine {
  readonly tenant: Tenant;
  readonly outside: boolean;
}

export interface Places {
  readonly size: number;
  /** How many places inside the pool each tenant holds. */
  readonly taken: ReadonlyMap<Tenant, number>;
  /** Places that were taken long ago. */
  readonly long: number;
}

export class Line<Waiter extends InLine> {
  readonly #outside: Waiter[] = [];
  /** In the order of their turns. */
  readonly #tenants = new Map<Tenant, Waiter[]>();

  join(waiter: Waiter): void {
    this.#lineOf(waiter).push(waiter);
  }

  leave(waiter: Waiter): void {
    const line = waiter.outside ? this.#outside : (this.#tenants.get(waiter.tenant) ?? []);
    const at = line.indexOf(waiter);
    if (at >= 0) line.splice(at, 1);
    if (!waiter.outside && line.length === 0) this.#tenants.delete(waiter.tenant);
  }

  /** It has its place, and its tenant the last turn. */
  serve(waiter: Waiter): void {
    this.leave(waiter);
    const rest = waiter.outside ? undefined : this.#tenants.get(waiter.tenant);
    if (!rest) return;
    this.#tenants.delete(waiter.tenant);
    this.#tenants.set(waiter.tenant, rest);
  }

  /** The next that is not passed over, such as for want of a child. */
  next(places: Places, passed: ReadonlySet<Waiter>): Waiter | undefined {
    const rest = (waiters: readonly Waiter[]) => waiters.find((each) => !passed.has(each));
    const first = rest(this.#outside);
    if (first) return first;
    const turns = [...this.#tenants].filter(([, waiters]) => rest(waiters)).map(([tenant]) => tenant);
    const tenant = nextTenant(turns, places);
    return tenant === undefined ? undefined : rest(this.#tenants.get(tenant) ?? []);
  }

  get outside(): number {
    return this.#outside.length;
  }

  get waiters(): Waiter[] {
    return [...this.#outside, ...[...this.#tenants.values()].flat()];
  }

  #lineOf({ outside, tenant }: Waiter): Waiter[] {
    if (outside) return this.#outside;
    const known = this.#tenants.get(tenant) ?? [];
    this.#tenants.set(tenant, known);
    return known;
  }
}

/** Chooses among those in line, given in the order of their turns. */
export function nextTenant(turns: readonly Tenant[], { size, taken, long }: Places): Tenant | undefined {
  const holds = (tenant: Tenant) => taken.get(tenant) ?? 0;
  const inside = [...taken.values()].reduce((sum, count) => sum + count, 0);
  const fewest = turns.reduce<Tenant | undefined>(
    (best, each) => (best === undefined || holds(each) < holds(best) ? each : best),
    undefined,
  );
  if (fewest === undefined || inside < size) return fewest;
  // As many again as the size at the most: beyond that, programs without an end wait for each other.
  return holds(fewest) === 0 && inside < size + Math.min(size, long) ? fewest : undefined;
}
