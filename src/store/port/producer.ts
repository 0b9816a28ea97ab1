/**
 * Executions that code of one process produces, tasks whose adapter lives in one process, and the presence of that
 * process: a part of the ThreadStore port.
 */
import type { Produced, ProducedLine } from '../../core/thread/producer.ts';

export interface ProducerRef {
  readonly threadId: string;
  readonly executionId: string;
  /** Secret id made by the process that claims it. For a task: the queue that its adapter works for. */
  readonly holder: string;
}

export interface ProducerPresence extends ProducerRef {
  /** Milliseconds from now for which the process counts as present. */
  readonly presenceMs: number;
}

export interface AppendProduced extends ProducerPresence {
  /** Number of lines sent before these, so that the same lines given twice are logged once. */
  readonly from: number;
  readonly lines: readonly ProducedLine[];
}

export interface ProducerRecord {
  /** `lost`: a task was ended because its process was lost, and its workflow may still exist. */
  readonly state: 'open' | 'lost' | 'ended';
  /** Null while it is open, and for a task. */
  readonly produced: Produced | null;
  /** True if it is open and the presence of its process has expired. */
  readonly overdue: boolean;
  /** Last number of the thread's log when this was read; awaited events come after it. */
  readonly lastSeq: number;
}

export interface ProducerStore {
  /**
   * Claims an execution. True if this holder may produce it: the first one to claim it, permanently. The thread need
   * not exist yet.
   */
  claim(command: ProducerPresence): Promise<boolean>;
  find(threadId: string, executionId: string): Promise<ProducerRecord | null>;
  /** Renews the presence. False if it is no longer open, or has another holder. */
  renew(command: ProducerPresence): Promise<boolean>;
  /**
   * Writes lines to the log. False, with nothing written, if it is no longer open, has another holder, or its execution
   * does not run.
   */
  tell(command: AppendProduced): Promise<boolean>;
  /** Ends it, and logs that unless its thread is terminated. False if it has ended before: the first end counts. */
  settle(command: ProducerRef & { readonly produced: Produced }): Promise<boolean>;
  /** Ends those whose process was lost, and their tasks, with `ProducerLost`. Returns how many. */
  closeLost(): Promise<number>;
  /**
   * Claims the adapter of a task. True for the first holder to claim it, and for the next one if that holder was lost
   * before the task existed.
   */
  claimTask(command: Omit<ProducerPresence, 'executionId'>): Promise<boolean>;
  /** Renews the presence for everything that this holder has open. Returns how many. */
  renewAll(command: Pick<ProducerPresence, 'holder' | 'presenceMs'>): Promise<number>;
  /** Thread ids (`task/` plus the task's id) of `lost` tasks; 100 at most. */
  listLostTasks(): Promise<readonly string[]>;
  /** Ends a lost task's record, because its workflow is gone. */
  forgetLostTask(threadId: string): Promise<void>;
}
