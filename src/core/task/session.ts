/** A session with a backend. One task may continue a session that another task has begun. */
export interface TaskSession {
  /** At most 200 characters. */
  readonly id: string;
  /** The kind of the backend; another kind cannot continue the session. */
  readonly backend: string;
  readonly status: 'active' | 'completed' | 'failed' | 'aborted';
  /** The token by which the backend finds the session. */
  readonly resumeToken: string | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Sessions of the task's owner: its organisation, else its user, else the sessions without an owner. */
export interface TaskSessions {
  /** Null if there is no such session. */
  get(id: string): Promise<TaskSession | null>;
  /** Stores the session; one that already has this id is updated. */
  put(session: Pick<TaskSession, 'id' | 'backend' | 'status' | 'resumeToken'>): Promise<TaskSession>;
}
