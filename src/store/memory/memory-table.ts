/** The table of notes that memory hooks have taken. */
export interface MemoryNoteTable {
  thread_id: string;
  /** The digest of the question, which has one note in a thread, with its newest answer. */
  digest: string;
  /** Those of the thread, as it was made. */
  organization_id: string | null;
  user_id: string | null;
  asked: string;
  answered: string;
  /** Microseconds since 1970. */
  noted_at: number;
}
