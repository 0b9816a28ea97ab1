/** Executions that code of one process produces, tasks whose adapter one has, and the presence of that process: a part of the ThreadStore port. */
import type { Produced, ProducedLine } from '../../core/thread/producer.ts';

export interface ProducerRef {
  readonly threadId: string;
  readonly executionId: string;
  /** Made by who claims it; nobody else knows it. Of a task: the queue that its adapter works for. */
  readonly holder: string;
}

export interface ProducerPresence extends ProducerRef {
  /** From now on it is present for so many milliseconds. */
  readonly presenceMs: number;
}

export interface TellProduced extends ProducerPresence {
  /** How many lines were told before these: the same ones given twice are there once. */
  readonly from: number;
  readonly lines: readonly ProducedLine[];
}

export interface ProducerRecord {
  /** `lost`: a task has ended with its process, and its workflow may still be there. */
  readonly state: 'open' | 'lost' | 'ended';
  /** Null while it is open. */
  readonly produced: Produced | null;
  /** It is open, and nobody has seen its process for as long as it had said. */
  readonly overdue: boolean;
  /** Of the thread's log, as it was read: what is awaited comes behind it. */
  readonly lastSeq: number;
}

export interface ProducerStore {
  /** Whether the execution is this holder's to produce: it is for the first one who asks, for ever. The thread need not be there yet. */
  claim(command: ProducerPresence): Promise<boolean>;
  find(threadId: string, executionId: string): Promise<ProducerRecord | null>;
  /** False where it is not open any more, or another's. */
  renew(command: ProducerPresence): Promise<boolean>;
  /** Puts lines into the log. False, and nothing is written, where it is not open any more, another's, or its execution does not run. */
  tell(command: TellProduced): Promise<boolean>;
  /** Ends it, and tells that in the log while its thread lives. False where it has ended before; the first end counts. */
  settle(command: ProducerRef & { readonly produced: Produced }): Promise<boolean>;
  /** Ends those whose process was lost, with `ProducerLost`, their tasks too, and answers how many. */
  closeLost(): Promise<number>;
  /** Whether the adapter of a task is this holder's: it is the first one's who asks, and of whoever comes after one that was lost before its task was there. */
  claimTask(command: Omit<ProducerPresence, 'executionId'>): Promise<boolean>;
  /** All that is open of this holder is present for so long; answers how much that is. */
  renewAll(command: Pick<ProducerPresence, 'holder' | 'presenceMs'>): Promise<number>;
  /** Tasks that are `lost`, as `task/` and their ids; 100 at most. */
  listLostTasks(): Promise<readonly string[]>;
  /** The workflow of a lost task is gone. */
  forgetLostTask(threadId: string): Promise<void>;
}
