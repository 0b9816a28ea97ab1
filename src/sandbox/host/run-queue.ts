/**
 * The queue of waiting runs. Tenants take turns, however many runs each has queued; one tenant's runs keep their order.
 * - Runs outside the pool go first: the runs that wait for them already hold places.
 * - A free place goes to a tenant that holds the fewest; among those, to the one whose last turn is longest ago.
 * L3. A tenant without a place gets one beyond the pool's size for each run that has held its place for long: endless
 *     programs of one tenant never keep another from beginning. No run is ended for that; the kernel shares the CPU.
 */

/** The owner of the code of a run. */
export type Tenant = string | symbol;

export interface QueueEntry {
  readonly tenant: Tenant;
  readonly outside: boolean;
}

export interface PoolPlaces {
  readonly size: number;
  /** Number of places inside the pool that each tenant holds. */
  readonly taken: ReadonlyMap<Tenant, number>;
  /** Number of places that were taken long ago. */
  readonly long: number;
}

export class RunQueue<Waiter extends QueueEntry> {
  readonly #outside: Waiter[] = [];
  /** Waiting runs by tenant, in the order of the tenants' turns. */
  readonly #tenants = new Map<Tenant, Waiter[]>();

  join(waiter: Waiter): void {
    this.#queueOf(waiter).push(waiter);
  }

  leave(waiter: Waiter): void {
    const line = waiter.outside ? this.#outside : (this.#tenants.get(waiter.tenant) ?? []);
    const at = line.indexOf(waiter);
    if (at >= 0) line.splice(at, 1);
    if (!waiter.outside && line.length === 0) this.#tenants.delete(waiter.tenant);
  }

  /** Removes a waiter that got its place, and moves its tenant to the end of the turns. */
  serve(waiter: Waiter): void {
    this.leave(waiter);
    const rest = waiter.outside ? undefined : this.#tenants.get(waiter.tenant);
    if (!rest) return;
    this.#tenants.delete(waiter.tenant);
    this.#tenants.set(waiter.tenant, rest);
  }

  /** Returns the next waiter that is not in `passed`, for example for lack of a child. */
  next(places: PoolPlaces, passed: ReadonlySet<Waiter>): Waiter | undefined {
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

  #queueOf({ outside, tenant }: Waiter): Waiter[] {
    if (outside) return this.#outside;
    const known = this.#tenants.get(tenant) ?? [];
    this.#tenants.set(tenant, known);
    return known;
  }
}

/** Chooses among the waiting tenants, given in the order of their turns. */
export function nextTenant(turns: readonly Tenant[], { size, taken, long }: PoolPlaces): Tenant | undefined {
  const holds = (tenant: Tenant) => taken.get(tenant) ?? 0;
  const inside = [...taken.values()].reduce((sum, count) => sum + count, 0);
  const fewest = turns.reduce<Tenant | undefined>(
    (best, each) => (best === undefined || holds(each) < holds(best) ? each : best),
    undefined,
  );
  if (fewest === undefined || inside < size) return fewest;
  // At most as many extra places as the pool has: beyond that, endless programs wait for each other.
  return holds(fewest) === 0 && inside < size + Math.min(size, long) ? fewest : undefined;
}
