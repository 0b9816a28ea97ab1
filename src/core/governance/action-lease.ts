/** Milliseconds of the lease on an action of code: when it lapses, the outcome is uncertain (docs/governance.md). */
export const ACTION_LEASE = { forMs: 60_000, renewEveryMs: 15_000 } as const;
