/** How long an action of code is its process's: what is not renewed is lost, and uncertain (docs/governance.md). Milliseconds. */
export const ACTION_LEASE = { forMs: 60_000, renewEveryMs: 15_000 } as const;
