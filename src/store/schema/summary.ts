/** Summaries of the older part of a history. */

/** What stands in a request for the messages of a thread until then. */
export interface SummaryTable {
  thread_id: string;
  side: 'a' | 'b';
  prompt: string;
  /** The execution whose messages alone it is about; empty where it is about all of the thread's. */
  scope: string;
  /** The time of the last message that it covers, and its id. */
  until: number;
  message_id: string;
  /** How many messages it stands for. */
  messages: number;
  text: string;
  /** What the user said last of what it covers. */
  asked: string | null;
  step: number;
  created_at: number;
}
