/** The session of a backend: what one task has begun with it, another one may go on with. */
export interface TaskSession {
  /** At most 200 characters. */
  readonly id: string;
  /** The kind of the backend: another kind cannot go on with it. */
  readonly backend: string;
  readonly status: 'active' | 'completed' | 'failed' | 'aborted';
  /** What the backend finds it by. */
  readonly resumeToken: string | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Sessions of whoever the task is for: its organisation, else its user, else those of nobody. */
export interface TaskSessions {
  /** Null where there is none. */
  get(id: string): Promise<TaskSession | null>;
  /** Keeps it; the same id again changes it. */
  put(session: Pick<TaskSession, 'id' | 'backend' | 'status' | 'resumeToken'>): Promise<TaskSession>;
}
