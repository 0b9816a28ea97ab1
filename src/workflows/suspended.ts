/** A step ends without a result, because the thread continues as new while a call of it waits. The store has all of the step, and the next run takes it over. */
export class Suspended extends Error {
  override readonly name = 'Suspended';
}
