/** What each tab of the drawer is given. */
import type { ThreadReading } from '../story/reading.ts';

export interface TabProps {
  readonly reading: ThreadReading;
  /** The model call that the address names. */
  readonly call: string | undefined;
}
