/** The type of the HTTP application: what the access check of a request leaves for its handler. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { Caller } from './caller.ts';

export interface ApiEnv {
  readonly Variables: {
    /** Undefined until the access check has passed. */
    readonly caller: Caller | undefined;
    /** The thread that `{threadId}` in the path names; undefined if the path names none. */
    readonly thread: ThreadRecord | undefined;
  };
}

export type ApiApp = OpenAPIHono<ApiEnv>;
