/**
 * The tables of tasks and of the steps of their loops. Other data of a task is in the tables of threads, under `task/`
 * plus the task's id.
 */
import type { TaskEnd } from '../../core/task/control.ts';
import type { TaskSession } from '../../core/task/session.ts';
import type { Flag, Json } from '../schema/json.ts';

export interface TaskTable {
  /** `task/` plus the id of the task. */
  thread_id: string;
  /** Name of its definition in agents/tasks. */
  name: string;
  /** An AgentTaskSpec. */
  spec: Json;
  scenario_id: string | null;
  /** Hash of the manifest that it runs with; null if no manifest names it. */
  manifest: string | null;
  status: 'running' | 'waiting' | TaskEnd;
  /** A TaskVerdict, once the loop has decided how the task ends. */
  verdict: Json | null;
  /** Its requirements as they are now, and the answers by requirement. */
  requirements: Json;
  answers: Json;
  /** State of the check of what must be known: `asked` if people are asked, `over` if the loop begins. */
  preflight: 'due' | 'asked' | 'over';
  /** Number of steps that are over. */
  steps: number;
  /** 10⁻¹² US dollars. */
  spent_pico: bigint;
  /** Microseconds that the task has worked; `active_since` is set while it works. */
  worked: number;
  active_since: number | null;
  /** TaskRuntimeErrors. */
  errors: Json;
  /** Result of the adapter's `projectRunRecords`. */
  records: Json | null;
  created_at: number;
  ended_at: number | null;
}

/** One step of a task's loop: the observation, the decision, and its outcome. */
export interface TaskStepTable {
  thread_id: string;
  step: number;
  state: Json;
  evals: Json;
  /** Fingerprint of the state. */
  fingerprint: string;
  score: number | null;
  decision: Json | null;
  /** Fingerprint of the action. */
  action: string | null;
  /** State of the act: `scheduled` until it begins. Null if there is nothing to do. */
  act: 'scheduled' | 'started' | 'over' | null;
  /** The attempt that holds the act. */
  attempt: string | null;
  outcome: Json | null;
  /** 1 if the act succeeded: the same action chosen again then gets a new idempotency key. */
  ok: Flag;
  /** 10⁻¹² US dollars. */
  cost_pico: bigint;
  started_at: number;
  act_started_at: number | null;
  ended_at: number | null;
}

/** Manifests that tasks have run with, by the hash of their content. */
export interface ManifestTable {
  hash: string;
  /** A ManifestDocument. */
  document: Json;
  created_at: number;
}

/** Sessions of backends, by their owner and id. */
export interface TaskSessionTable {
  /** Owner of the session: an organisation, a user, or empty. */
  owner: string;
  id: string;
  /** The kind of the backend. */
  backend: string;
  status: TaskSession['status'];
  resume_token: string | null;
  created_at: number;
  updated_at: number;
}

export interface TaskTables {
  task_sessions: TaskSessionTable;
  manifests: ManifestTable;
  tasks: TaskTable;
  task_steps: TaskStepTable;
}
