/** Summaries of the older part of a history. */

/** A text that requests show in place of the messages of a thread until then (`until`). */
export interface SummaryTable {
  thread_id: string;
  side: 'a' | 'b';
  prompt: string;
  /** The execution, if the summary is only about its messages; empty if it is about all of the thread's. */
  scope: string;
  /** The time of the last message that it covers, and its id. */
  until: number;
  message_id: string;
  /** Number of messages that it replaces. */
  messages: number;
  text: string;
  /** The last message of the user that it covers. */
  asked: string | null;
  step: number;
  created_at: number;
}
