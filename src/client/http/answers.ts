/**
 * What the routes of the API answer in JSON, by method and path: the one declaration of it. The server's routes are
 * checked against it, handlers and schemas alike, and the client reads by it; so a difference does not compile.
 */

import type { ScheduledEffect } from '../../core/author/thread-effect.ts';
import type { Log } from '../../core/author/thread-log.ts';
import type { MessagePage } from '../../core/author/thread-message.ts';
import type { FileRecord, ReaddirResult } from '../../core/file/thread-file.ts';
import type { BudgetLine } from '../../core/governance/budget-line.ts';
import type { Message } from '../../core/message/message.ts';
import type { WaitVerdict } from '../../core/wait/wait.ts';
import type { Projected } from '../../projections/projection.ts';
import type { RunReport } from '../../projections/run/run-report.ts';
import type { RuntimeStreamEvent } from '../../projections/task/stream-event.ts';
import type { ActionRecord } from '../../store/action/action-record.ts';
import type { ThreadVariable } from '../../store/env/env-record.ts';
import type { ExecutionRecord } from '../../store/execution/execution-record.ts';
import type { FamilyMember } from '../../store/family/family-record.ts';
import type { ForkedThread } from '../../store/fork/fork-record.ts';
import type { Grant } from '../../store/grant/grant-record.ts';
import type { SupersededTail } from '../../store/message/message-record.ts';
import type { ModelCallRecord, ShownRequest } from '../../store/request/request-record.ts';
import type { TaskRecord, TaskStepRecord } from '../../store/task/task-record.ts';
import type { ThreadChanges, ThreadCounts, ThreadRecord } from '../../store/thread/thread-record.ts';
import type { ApiToken } from '../../store/token/token-record.ts';
import type { StoredValue } from '../../store/value/value-record.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import type { DeletedThreads } from '../delete-thread.ts';
import type { RunRecord } from '../run-record.ts';

export interface Answers {
  'POST /v1/threads': { readonly threadId: string };
  'GET /v1/threads': { readonly threads: readonly ThreadRecord[]; readonly cursor: string | null };
  'GET /v1/threads/counts': ThreadCounts;
  'GET /v1/threads/changes': ThreadChanges;
  'GET /v1/threads/{threadId}': ThreadRecord;
  'PATCH /v1/threads/{threadId}': ThreadRecord;
  'DELETE /v1/threads/{threadId}': DeletedThreads;
  'GET /v1/threads/{threadId}/family': { readonly family: readonly FamilyMember[] };
  'POST /v1/threads/{threadId}/stop': { readonly threadId: string };
  'POST /v1/threads/{threadId}/continue': { readonly threadId: string };
  'POST /v1/threads/{threadId}/supersede': SupersededTail;
  'POST /v1/threads/{threadId}/fork': ForkedThread;
  'POST /v1/threads/{threadId}/terminate': { readonly threadId: string };
  'POST /v1/threads/{threadId}/cancel': ExecutionRecord;
  'POST /v1/threads/{threadId}/idle': ThreadRecord;
  'GET /v1/threads/{threadId}/messages': MessagePage;
  'POST /v1/threads/{threadId}/messages': { readonly id: string };
  'GET /v1/threads/{threadId}/messages/{messageId}': Message;
  'PATCH /v1/threads/{threadId}/messages/{messageId}': Message;
  'DELETE /v1/threads/{threadId}/messages/{messageId}': { readonly id: string };
  'GET /v1/threads/{threadId}/events': {
    readonly events: readonly unknown[];
    readonly cursor: string;
    readonly more: boolean;
  };
  'GET /v1/threads/{threadId}/files': ReaddirResult;
  'PUT /v1/threads/{threadId}/file': FileRecord;
  'DELETE /v1/threads/{threadId}/file': { readonly path: string };
  'POST /v1/threads/{threadId}/file/address': { readonly address: string; readonly expiresAt: number };
  'GET /v1/threads/{threadId}/values': { readonly values: readonly StoredValue[] };
  'GET /v1/threads/{threadId}/values/{key}': { readonly key: string; readonly value: unknown };
  'GET /v1/threads/{threadId}/effects': { readonly effects: ScheduledEffect[] };
  'POST /v1/threads/{threadId}/effects/{effectId}/run': { readonly due: boolean };
  'DELETE /v1/threads/{threadId}/effects/{effectId}': { readonly removed: boolean };
  'GET /v1/threads/{threadId}/logs': { readonly logs: Log[] };
  'GET /v1/threads/{threadId}/budget': {
    readonly lines: readonly BudgetLine[];
    readonly members: readonly MemberUsage[];
  };
  'GET /v1/threads/{threadId}/env': { readonly variables: readonly ThreadVariable[] };
  'GET /v1/threads/{threadId}/model-calls': {
    readonly modelCalls: readonly ModelCallRecord[];
    readonly cursor: string | null;
  };
  'GET /v1/threads/{threadId}/model-calls/{callId}/request': ShownRequest;
  'GET /v1/threads/{threadId}/actions': { readonly actions: readonly ActionRecord[] };
  'POST /v1/actions/{actionId}/reconcile': ActionRecord;
  'GET /v1/grants': { readonly grants: readonly Grant[] };
  'POST /v1/grants/{grantId}/revoke': Grant;
  'GET /v1/waits': { readonly waits: readonly Wait[] };
  'GET /v1/waits/{waitId}': Wait;
  'POST /v1/waits/{waitId}/answer': WaitVerdict;
  'GET /v1/runs': { readonly runs: readonly RunRecord[] };
  'GET /v1/runs/{runId}': RunRecord;
  'GET /v1/runs/{runId}/report': RunReport;
  'POST /v1/tasks': { readonly id: string };
  'GET /v1/tasks': { readonly tasks: readonly TaskRecord[] };
  'GET /v1/tasks/{taskId}': TaskRecord;
  'GET /v1/tasks/{taskId}/steps': { readonly steps: readonly TaskStepRecord[] };
  'POST /v1/tasks/{taskId}/abort': { readonly id: string };
  'GET /v1/tasks/{taskId}/events': { readonly events: readonly Projected<RuntimeStreamEvent>[] };
  'GET /v1/whoami': WhoAmI;
  'GET /v1/server': ServerInfo;
  'GET /v1/tokens': { readonly tokens: readonly ApiToken[] };
  'POST /v1/tokens': { readonly secret: string; readonly token: ApiToken };
  'DELETE /v1/tokens/{tokenId}': ApiToken;
}

/** Whose token a request has. Null: any. */
export interface WhoAmI {
  readonly name: string | null;
  readonly scopes: readonly string[];
  readonly userId: string | null;
  readonly organizationId: string | null;
}

export interface ServerInfo {
  /** Version of the package. */
  readonly version: string;
  readonly temporal: {
    readonly address: string | null;
    readonly namespace: string;
    /** Address of Temporal's Web UI, if the server knows it. */
    readonly uiUrl: string | null;
  };
}

/** What one thread of a family has used itself, in all of its executions. */
export interface MemberUsage
  extends Pick<ThreadRecord, 'agent' | 'parentId' | 'costUsd' | 'inputTokens' | 'outputTokens'> {
  readonly threadId: string;
  readonly steps: number;
}

/** The ids in the path of a route. */
export type PathIds<Route extends string> = Readonly<Record<NamesIn<Route>, string>>;

type NamesIn<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;
