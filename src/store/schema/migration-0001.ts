/**
 * The schema of 0.1.0, the first release. Never edited: a change is another migration (migrations.ts).
 * One text for both engines: SQLite stores values unchanged in columns whose type it does not know, such as `bytea`.
 * Flags are 0 or 1, times microseconds since 1970, and `numeric(19, 0)` is a whole number of 64 bits (column.ts).
 */
import { createHash, randomUUID } from 'node:crypto';
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

const SCHEMA = `
-- The store itself.
create table meta (
  "key" text primary key, value text not null
);

-- Threads, their runs on Temporal, and what they were sent.
-- Deleted threads keep their row.
create table threads (
  id text primary key, agent text not null, user_id text, arguments text not null, status text not null,
  stop_reason text, last_error text, run_id text not null, activity integer default 0 not null,
  activity_since bigint default 0 not null, parent_id text, root_id text not null,
  created_at bigint not null, updated_at bigint not null, terminated_at bigint, event_seq bigint not null,
  clock bigint not null, last_step integer not null, last_position bigint not null, turn_open integer not null,
  answer_due integer not null, next_agent text, greeted integer default 1 not null, name text,
  side text default 'a' not null, turns integer default 0 not null, child_count integer default 0 not null,
  activated text default '[]' not null, counted_from integer default 1 not null,
  message_count integer default 0 not null, counted_a integer default 0 not null,
  counted_b integer default 0 not null, asked_from integer default 0 not null,
  asked_a integer default 0 not null, asked_b integer default 0 not null, open_steps integer default 0 not null,
  open_waits integer default 0 not null, run_context text, budget text, loop_warnings text, rounds text,
  compacted integer default 0 not null, team text, organization_id text, tags text, deleted_at bigint,
  unseen_since bigint, model_counts text, cost_pico numeric(19, 0) default 0 not null,
  input_tokens bigint default 0 not null, output_tokens bigint default 0 not null,
  listed_cost numeric(19, 0) default 0 not null, listed_tokens bigint default 0 not null,
  waiting_since bigint, waiting_for text, first_words text, last_words text,
  changed bigint default 0 not null, moved bigint default 0 not null,
  requests text, output text, forked_from text
);
create index threads_by_root on threads (root_id);
create index threads_in_order on threads (updated_at, id);
create index threads_by_creation on threads (created_at, id);
create index threads_of_agent on threads (agent, updated_at, id);
-- Partial: without users, organisations and subagents they have no entries.
create index threads_of_user on threads (user_id, updated_at, id)
  where user_id is not null and deleted_at is null and substr(id, 1, 5) <> 'task/';
create index threads_of_organization on threads (organization_id, updated_at, id)
  where organization_id is not null and deleted_at is null and substr(id, 1, 5) <> 'task/';
create index threads_of_parent on threads (parent_id, updated_at, id) where parent_id is not null;
-- Partial: most threads are idle or terminated, and only the others have entries.
create index threads_not_at_rest on threads (status, updated_at, id) where status <> 'idle' and status <> 'terminated';
-- Partial: without prices, usage and waits they have no entries. A list must contain the condition as a literal.
create index threads_by_cost on threads (listed_cost, id) where listed_cost > 0;
create index threads_by_tokens on threads (listed_tokens, id) where listed_tokens > 0;
create index threads_waiting on threads (waiting_since, id) where waiting_since is not null;
-- For the feed of changes (thread/changes.ts). Written only when the place in lists changes.
create index threads_moved on threads (moved);
-- Threads whose workflows have not read which waits of descendants they show now.
create index threads_unseen on threads (unseen_since) where unseen_since is not null;
-- For the census and counts, which read nothing else: counters would be rows that all threads of an agent wait for.
-- It begins with an expression that only these use: with the column, lists of threads by status would use this index
-- and then sort all that they find. A query must contain the conditions as literals.
create index threads_counted on threads ((status || ''), agent, organization_id, user_id, status)
  where deleted_at is null and substr(id, 1, 5) <> 'task/';
create table thread_runs (
  thread_id text not null, run_id text not null, registered_at bigint not null,
  constraint thread_runs_key primary key (thread_id, run_id)
);
create table thread_tags (
  thread_id text not null, tag text not null, created_at bigint not null,
  constraint thread_tags_key primary key (thread_id, tag)
);
create index thread_tags_in_order on thread_tags (tag, created_at, thread_id);
create table items (
  thread_id text not null, id text not null, kind text not null, payload text not null, state text not null,
  position bigint, created_at bigint not null, own integer default 0 not null, digest text,
  constraint items_key primary key (thread_id, id)
);
-- Full, not partial: with bound parameters SQLite cannot tell that a partial index could be used.
create index items_by_state on items (thread_id, state, position);
-- For the census, on an expression like threads_counted: a step would search for its items among those of all threads. A query must contain the condition literally.
create index items_waiting on items (created_at) where (state || '') = 'queued';
create table sent_contents (
  thread_id text not null, id text not null, content text not null, created_at bigint not null,
  constraint sent_contents_key primary key (thread_id, id)
);
create table execution_claims (
  owner text not null, execution_id text not null, thread_id text not null, item_id text not null,
  digest text not null, created_at bigint not null, cancel_request text,
  constraint execution_claims_key primary key (owner, execution_id)
);
-- For clients that attach to an execution by its id alone.
create index execution_claims_id on execution_claims (execution_id, created_at);

-- Executions, their steps and calls, messages and the log.
create table executions (
  thread_id text not null, id text not null, started_at bigint not null, ended_at bigint, stop_reason text,
  context text, run_context text, run_id text, session_id text, trace_id text, agent text, first_seq bigint,
  ended_as text, cancel_request text, budget text, streams integer default 1, end_told integer, produced integer,
  rejected text, output text, answer_type text,
  constraint executions_key primary key (thread_id, id)
);
create index executions_open on executions (thread_id, ended_at);
-- Lists of executions: of all threads, of one, of an agent, by id.
create index executions_in_order on executions (started_at, thread_id, id);
create index executions_of_thread on executions (thread_id, started_at, id);
create index executions_by_agent on executions (agent, started_at, thread_id, id);
create index executions_by_id on executions (id, started_at, thread_id);
-- Partial: most executions have no entry. A query must contain the condition as a literal, or imply it.
create index executions_under_way on executions (started_at, thread_id, id) where ended_at is null;
create index executions_ended_early on executions (started_at, thread_id, id) where ended_as is not null;
create index executions_by_run on executions (run_id, started_at, thread_id, id) where run_id is not null;
create index executions_by_session on executions (session_id, started_at, thread_id, id) where session_id is not null;
create index executions_by_trace on executions (trace_id, started_at, thread_id, id) where trace_id is not null;
-- Executions that may still have streamed text in the log.
create index executions_streams on executions (ended_at) where streams is not null;
create table steps (
  thread_id text not null, step integer not null, execution_id text not null, kind text not null,
  state text not null, attempt integer not null, message_id text, model text, text integer not null,
  first_seq bigint not null, opened_at bigint not null, closed_at bigint, directive text, parent_step integer,
  parent_idx integer, depth integer default 0 not null, prompt text, arguments text,
  side text default 'a' not null, handed_over integer, rejected text,
  constraint steps_key primary key (thread_id, step)
);
create index steps_by_state on steps (thread_id, state);
create table command_keys (
  thread_id text not null, run_id text not null, ordinal integer not null, step integer, swept integer not null,
  constraint command_keys_key primary key (thread_id, run_id, ordinal)
);
create table tool_calls (
  thread_id text not null, step integer not null, idx integer not null, call_id text not null,
  name text not null, arguments text not null, origin text not null, state text not null, attempt text,
  status text, started_at bigint, ended_at bigint, message_id text, directive text,
  waits integer default 0 not null, first_seq bigint, signature text, outcome text, progress integer, loop text,
  idempotent integer, parallel integer, held_since bigint, deferred text,
  constraint tool_calls_key primary key (thread_id, step, idx)
);
create index tool_calls_by_state on tool_calls (thread_id, state);
create index tool_calls_outcome on tool_calls (thread_id, outcome) where outcome is not null;
create table model_calls (
  thread_id text not null, step integer not null, attempt integer not null, "call" integer not null,
  model text not null, model_id text not null, state text not null, error text, usage text,
  started_at bigint not null, first_token_at bigint, ended_at bigint,
  cost_pico numeric(19, 0), price text, chain text, request text,
  constraint model_calls_key primary key (thread_id, step, attempt, "call")
);
create table request_texts (
  thread_id text not null, digest text not null, body text, message_id text, quotes integer not null,
  created_at bigint not null, gap text,
  constraint request_texts_key primary key (thread_id, digest)
);
create table messages (
  thread_id text not null, id text not null, role text not null, content text, name text, tool_calls text,
  tool_call_id text, created_at bigint not null, parent_id text, depth integer not null, silent integer not null,
  metadata text not null, attachments text, status text not null, tool_status text, execution_id text,
  step integer, reasoning text, prompt text, parts text,
  constraint messages_key primary key (thread_id, id)
);
create unique index messages_in_order on messages (thread_id, created_at);
-- An execution may be as long as a thread.
create index messages_by_step on messages (thread_id, execution_id, step);
-- Counts the messages that pages leave out; it holds no others, or engines would use it for pages too, and then
-- sort the whole thread.
create index messages_hidden on messages (thread_id, silent, depth) where (silent = 1 or depth > 0);
-- Messages that were superseded: no reading has them but the one that asks for them; seq is that of the event.
create table superseded_messages (
  thread_id text not null, id text not null, role text not null, content text, name text, tool_calls text,
  tool_call_id text, created_at bigint not null, parent_id text, depth integer not null, silent integer not null,
  metadata text not null, attachments text, status text not null, tool_status text, execution_id text,
  step integer, reasoning text, prompt text, parts text, seq bigint not null,
  constraint superseded_messages_key primary key (thread_id, id, seq)
);
create index superseded_messages_in_order on superseded_messages (thread_id, created_at);
-- Each superseded part of a thread, by the id of the request. The rows of the log from from_seq to to_seq belong to it.
create table superseded_parts (
  thread_id text not null, id text not null, digest text not null, from_seq bigint not null, to_seq bigint not null,
  answer text not null,
  constraint superseded_parts_key primary key (thread_id, id)
);
create table summaries (
  thread_id text not null, side text not null, prompt text not null, scope text not null, until bigint not null,
  message_id text not null, messages integer not null, text text not null, asked text, step integer not null,
  created_at bigint not null,
  constraint summaries_key primary key (thread_id, side, prompt, scope, until)
);
create table events (
  thread_id text not null, seq bigint not null, at bigint not null, type text not null, step integer,
  attempt integer, data text not null,
  constraint events_key primary key (thread_id, seq)
);
-- Finding refused items must not read the whole log.
create index events_rejected on events (thread_id, type) where type = 'item.rejected';
create table effects (
  thread_id text not null, id text not null, name text not null, args text not null, due_at bigint not null,
  created_at bigint not null, state text not null, attempts integer not null, error text, started_at bigint,
  ended_at bigint, budget text,
  constraint effects_key primary key (thread_id, id)
);
create index effects_by_time on effects (thread_id, state, due_at);

-- Values, files and variables.
create table thread_values (
  thread_id text not null, "key" text not null, value text not null, updated_at bigint not null,
  constraint thread_values_key primary key (thread_id, "key")
);
create table thread_files (
  thread_id text not null, path text not null, parent text not null, kind text not null, mime_type text not null,
  size bigint not null, blob_id text, metadata text, width integer, height integer, thumbnail bytea,
  created_at bigint not null, updated_at bigint not null,
  constraint thread_files_key primary key (thread_id, path)
);
create index thread_files_by_parent on thread_files (thread_id, parent);
-- The number and the size of a thread's files are read from this index alone.
create index thread_files_by_size on thread_files (thread_id, kind, size);
create table blobs (
  id text primary key, hash text not null unique, size bigint not null, names integer not null
);
create table blob_chunks (
  blob_id text not null, idx integer not null, data bytea not null,
  constraint blob_chunks_key primary key (blob_id, idx)
);
create table blob_uploads (
  id text primary key, begun_at bigint not null
);
create table env_values (
  scope text not null, owner text not null, name text not null, type text not null, key_id text not null,
  value text not null, updated_at bigint not null, withheld integer default 0 not null,
  constraint env_values_key primary key (scope, owner, name)
);
create table memory_notes (
  thread_id text not null, digest text not null, organization_id text, user_id text, asked text not null,
  answered text not null, noted_at bigint not null,
  constraint memory_notes_key primary key (thread_id, digest)
);
create index memory_notes_by_user on memory_notes (user_id, organization_id, noted_at);

-- Families.
create table children (
  parent_id text not null, child_id text not null, agent text not null, name text, title text,
  description text not null, resumable integer not null, blocking integer not null, explicit integer not null,
  hears text not null, status text not null, made_step integer, made_idx integer, wait_step integer,
  wait_idx integer, told_step integer, told_idx integer, told_id text, owes integer not null,
  started integer not null, created_at bigint not null, terminated_at bigint, promoted text, superseded integer,
  constraint children_key primary key (parent_id, child_id)
);
create unique index children_by_child on children (child_id);
create table child_reports (
  child_id text not null, id text not null, kind text not null, content text not null, attachments text not null,
  delivered text, state text not null, early integer not null, call_step integer, call_idx integer,
  created_at bigint not null, delivered_at bigint, budget text,
  constraint child_reports_key primary key (child_id, id)
);
create table variable_requests (
  id text primary key, parent_id text not null, agent text not null, required text not null,
  missing text not null, child text not null, step integer not null, idx integer not null,
  created_at bigint not null, child_id text, completed_at bigint
);
create unique index variable_requests_by_call on variable_requests (parent_id, step, idx);

-- Policy: waits, actions, grants and budgets.
create table waits (
  id text primary key, thread_id text not null, root_id text not null, "key" text not null, kind text not null,
  name text not null, summary text not null, data text not null, fingerprint text, execution_id text,
  step integer, idx integer, tool_call_id text, blocks integer not null, state text not null, answer text,
  reason text, opened_at bigint not null, expires_at bigint, ended_at bigint, heard integer not null
);
create unique index waits_by_key on waits (thread_id, "key");
create index waits_by_root on waits (root_id, state);
create index waits_in_order on waits (state, opened_at);
create index waits_by_hearing on waits (heard, state);
create index waits_by_fingerprint on waits (fingerprint, state);
create table shown_waits (
  thread_id text not null, wait_id text not null,
  constraint shown_waits_key primary key (thread_id, wait_id)
);
create table actions (
  id text primary key, thread_id text not null, step integer, idx integer, execution_id text, kind text not null,
  name text not null, call_id text, fingerprint text not null, prepared text not null, decision text not null,
  state text not null, outcome text, requested_at bigint not null, started_at bigint, ended_at bigint,
  lease_until bigint
);
create index actions_by_state on actions (thread_id, state, requested_at);
create index actions_uncertain on actions (state, requested_at);
create index actions_by_lease on actions (state, lease_until);
create table grants (
  id text primary key, owner text not null, scope text not null, asked_in text, execution_id text,
  organization_id text, user_id text, agent text not null, name text not null, capabilities text not null,
  digest text, fingerprint text, granted_by text, granted_at bigint not null, expires_at bigint,
  revoked_at bigint, revoked_by text
);
create index grants_by_owner on grants (owner, granted_at);
create index grants_asked_in on grants (asked_in) where asked_in is not null;
create index grants_by_time on grants (granted_at);
create table budgets (
  thread_id text not null, execution_id text not null, name text not null, warn_at double precision not null,
  warned integer not null, running text, max_units numeric(19, 0) default 0 not null,
  used_units numeric(19, 0) default 0 not null, reserved_units numeric(19, 0) default 0 not null,
  estimated_units numeric(19, 0) default 0 not null,
  constraint budgets_key primary key (thread_id, execution_id, name)
);
create table budget_reservations (
  thread_id text not null, step integer not null, attempt integer not null, "call" integer not null,
  accounts text not null, root_thread_id text not null, state text not null, input double precision not null,
  output double precision not null, max_output integer, lease_until bigint not null,
  cost_pico numeric(19, 0) default 0 not null,
  constraint budget_reservations_key primary key (thread_id, step, attempt, "call")
);
create index budget_reservations_open on budget_reservations (root_thread_id, state);
create table budget_payments (
  thread_id text not null, "key" text not null,
  constraint budget_payments_key primary key (thread_id, "key")
);

-- Tasks.
create table tasks (
  thread_id text primary key, name text not null, spec text not null, scenario_id text, manifest text,
  status text not null, verdict text, requirements text not null, answers text not null, preflight text not null,
  steps integer not null, worked bigint not null, active_since bigint, errors text not null, records text,
  created_at bigint not null, ended_at bigint, spent_pico numeric(19, 0) default 0 not null
);
create index tasks_in_order on tasks (created_at, thread_id);
create index tasks_by_status on tasks (status, created_at, thread_id);
create index tasks_by_name on tasks (name, created_at, thread_id);
create table task_steps (
  thread_id text not null, step integer not null, state text not null, evals text not null,
  fingerprint text not null, score double precision, decision text, action text, act text, attempt text,
  outcome text, ok integer not null, started_at bigint not null, act_started_at bigint, ended_at bigint,
  cost_pico numeric(19, 0) default 0 not null,
  constraint task_steps_key primary key (thread_id, step)
);
-- The next idempotency key of an action depends on how often it has succeeded.
create index task_steps_of_action on task_steps (thread_id, action, ok);
create table task_sessions (
  owner text not null, id text not null, backend text not null, status text not null, resume_token text,
  created_at bigint not null, updated_at bigint not null,
  constraint task_sessions_key primary key (owner, id)
);
create table manifests (
  hash text primary key, document text not null, created_at bigint not null
);

-- What is reached from outside, and who reaches in.
create table mcp_lists (
  thread_id text not null, server text not null, execution_id text not null, tools text, code text,
  listed_at bigint not null,
  constraint mcp_lists_key primary key (thread_id, server)
);
create table a2a_tasks (
  thread_id text not null, step integer not null, idx integer not null, agent text not null,
  context_id text not null, message_id text not null, endpoint text not null, task_id text,
  answers integer not null, open integer not null, sent_at bigint not null, silent_since bigint,
  cancels integer not null,
  constraint a2a_tasks_key primary key (thread_id, step, idx)
);
-- Partial: few are open at a time, and every worker looks for those that must be cancelled.
create index a2a_tasks_open on a2a_tasks (thread_id) where open = 1;
create table producers (
  thread_id text not null, execution_id text not null, holder text not null, state text not null,
  lines integer not null, present_until bigint not null, produced text,
  constraint producers_key primary key (thread_id, execution_id)
);
create index producers_by_presence on producers (state, present_until);
-- How far the log of each thread was given out as spans; empty without OpenTelemetry.
create table traces (
  thread_id text primary key, seq bigint not null, state text not null
);
create table api_tokens (
  id text primary key, digest text not null unique, name text, scopes text not null, user_id text,
  organization_id text, created_at bigint not null, expires_at bigint, revoked_at bigint
);
create table author_strikes (
  work text primary key, thread_id text not null, code text not null, name text not null, deaths text not null,
  updated_at bigint not null
);
`;

/** Digest of the text above, which a store keeps. That of a development version before 0.1.0 is another one. */
export const schemaDigest = createHash('sha256').update(SCHEMA).digest('hex').slice(0, 16);

export const initial: Migration = {
  async up(db: Kysely<Tables>) {
    for (const statement of SCHEMA.split(/;\n/))
      if (statement.trim() !== '') await sql.raw(statement).execute(db);
    await db
      .insertInto('meta')
      .values([
        { key: 'store_id', value: randomUUID() },
        { key: 'schema', value: schemaDigest },
      ])
      .execute();
  },
};
