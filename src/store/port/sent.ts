/**
 * What a client has stored before it starts or signals a workflow, which gets only the id: the content of a start, the
 * reason of an end. It stays until its thread is deleted, so that a repeated activity finds it again.
 */
export type SentContent = Readonly<Record<string, unknown>>;

export interface SentStore {
  /** Stores content under a new id, even before the thread exists. */
  keep(threadId: string, id: string, content: SentContent): Promise<void>;
  /** Null if nothing is stored under this id. */
  read(threadId: string, id: string): Promise<SentContent | null>;
  /** Removes content whose id has reached no workflow. */
  drop(threadId: string, id: string): Promise<void>;
}
