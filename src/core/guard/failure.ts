/** How many calls of a model may fail in a row: its execution then asks for help, and goes on if it is granted. */

export interface FailureGuard {
  readonly max: number;
}

const [DEFAULT, LEAST] = [3, 2];

/** Applies the default and the minimum. */
export function toFailureGuard({ max = DEFAULT }: Partial<FailureGuard>): FailureGuard {
  return { max: Math.max(max, LEAST) };
}

/** Shown with an execution that asks for help. */
export interface PausedFailures {
  /** Number of calls in a row that have failed. */
  readonly failures: number;
  /** Name of the tool of the last failed call. */
  readonly tool: string;
}

export function describeFailures(agent: string, { failures, tool }: PausedFailures): string {
  return `help for ${agent}: ${failures} calls in a row have failed, the last one to "${tool.slice(0, 64)}"`;
}

export function toFailuresError({ failures }: Pick<PausedFailures, 'failures'>): {
  readonly code: 'HelpRefused';
  readonly message: string;
} {
  const message = `${failures} calls in a row have failed (guards.failures), and the request for help was refused. The execution has ended; send another message to start a new one.`;
  return { code: 'HelpRefused', message };
}
