/** Tasks of agents elsewhere that calls of a thread have begun. Times are microseconds since 1970. */
import type { Flag, Json } from '../schema/json.ts';

/** One row per call. */
export interface A2aTaskTable {
  thread_id: string;
  step: number;
  idx: number;
  /** The agent, by the name of its file. */
  agent: string;
  context_id: string;
  message_id: string;
  /** From the agent card when the call began; JSON null as long as nothing can have been sent. */
  endpoint: Json;
  /** Null until it is known. */
  task_id: string | null;
  /** Number of its questions that are answered: the agent has received the answers, or may have. */
  answers: number;
  /** 1 if the task may still run, as far as is known: it must be cancelled once its call is over. */
  open: Flag;
  sent_at: number;
  /** Since when the agent has been unreachable; null if the last attempt reached it. */
  silent_since: number | null;
  /** Number of failed attempts to cancel it. */
  cancels: number;
}
