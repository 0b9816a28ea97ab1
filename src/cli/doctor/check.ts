/** One line of the doctor's report: what a check found, and the remedy. */

/** One line of the doctor's report. */
export interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  /** Result of the check, for people. */
  readonly message: string;
  /** The remedy. */
  readonly next?: string;
}

export function ok(name: string, message: string): Check {
  return { name, status: 'ok', message };
}

export function warn(name: string, message: string, next: string): Check {
  return { name, status: 'warn', message, next };
}

export function fail(name: string, message: string, next: string): Check {
  return { name, status: 'fail', message, next };
}
