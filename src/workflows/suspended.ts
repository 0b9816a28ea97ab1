/**
 * Thrown to end a step without a result, because the thread continues as new while a call of the step waits. The store
 * has the whole step, and the next run takes it over.
 */
export class Suspended extends Error {
  override readonly name = 'Suspended';
}
