/** Tasks of agents elsewhere that calls of a thread have begun. Times are microseconds since 1970. */
import type { Flag, Json } from './tables.ts';

/** One row a call. */
export interface A2aTaskTable {
  thread_id: string;
  step: number;
  idx: number;
  /** By the name of its file. */
  agent: string;
  context_id: string;
  message_id: string;
  /** As the card told it when the call began. */
  endpoint: Json;
  /** Null until it is known. */
  task_id: string | null;
  /** How many of its questions are answered, as it has heard. */
  answers: number;
  /** It may go on, as far as is known: it is to be cancelled where its call is over. */
  open: Flag;
  sent_at: number;
  /** Since when it has not been reached; null where it was. */
  silent_since: number | null;
  /** How often it was to be cancelled. */
  cancels: number;
}
