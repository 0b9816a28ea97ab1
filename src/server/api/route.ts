/**
 * A route of the API: its name, its input, its scope and its answer. The server's routes, the OpenAPI document and the
 * tests are generated from the table of all routes (routes.ts).
 */
import { createRoute, z } from '@hono/zod-openapi';
import type { Answers } from '../../client/http/answers.ts';
import type { Fitting } from '../../core/value/type-difference.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { ApiScope, Caller } from './caller.ts';
import type { ApiHost } from './host.ts';
import { jsonResponse } from './problem.ts';
import { problemSchema } from './schema/problem-schema.ts';

type Fields = z.ZodObject;
type Parsed<Schema> = Schema extends z.ZodType ? z.infer<Schema> : undefined;

/** A record that is looked up by its id, and belongs to a thread. */
export interface Owned {
  readonly threadId: string;
}

export interface RouteInput<Params, Query, Body, Found = undefined> {
  readonly params: Parsed<Params>;
  readonly query: Parsed<Query>;
  readonly body: Parsed<Body>;
  /** The thread that `{threadId}` in the path names; the caller may reach it. */
  readonly thread: Parsed<Params> extends { readonly threadId: string } ? ThreadRecord : undefined;
  /** The result of `find`; the caller may reach its thread. */
  readonly found: Found;
  readonly request: Request;
  readonly caller: Caller;
  readonly host: ApiHost;
}

type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';
type AnswerSchema = z.ZodType | readonly string[] | undefined;
/** What a route answers in JSON, if the table declares it (client/http/answers.ts). */
type Declared<Name extends string> = Name extends keyof Answers ? Answers[Name] : object;
/** Refuses a schema that differs from the declared answer. */
type Checked<Name extends string, Answer extends AnswerSchema> = Answer extends z.ZodType
  ? Name extends keyof Answers
    ? Fitting<Answer, z.output<Answer>, Answers[Name]>
    : Answer
  : Answer;

export interface RouteSpec<
  Verb extends Method,
  Path extends string,
  Answer extends AnswerSchema,
  Params extends Fields | undefined,
  Query extends Fields | undefined,
  Body extends z.ZodType | undefined,
  Found extends Owned | undefined,
> {
  readonly method: Verb;
  /** In OpenAPI's notation: `/v1/threads/{threadId}`. */
  readonly path: Path;
  /** The OpenAPI operation id, which names the method in generated clients. */
  readonly id: string;
  readonly scope: ApiScope | 'none';
  readonly tag: string;
  readonly summary: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** The body may be absent, and is `{}` then. */
  readonly bodyOptional?: true;
  /** The body is bytes of any type, such as a file, which `handle` reads from the request as a stream. */
  readonly bytes?: true;
  /** A signed URL may authorise the request (signed-address.ts). */
  readonly signable?: true;
  readonly status?: 200 | 201 | 202 | 204;
  /** The answer: a schema if it is JSON, else its media types. */
  readonly answer?: Answer & NoInfer<Checked<`${Uppercase<Verb>} ${Path}`, Answer>>;
  /** Schema of an error answer; a problem unless given. */
  readonly fails?: z.ZodType;
  /** Looks up the record that the path names, if it names a record of a thread instead of the thread. */
  readonly find?: (asked: LookupInput<Params, Query>) => Promise<Found>;
  /** Returns what is answered in JSON with `status`, or a response of its own. */
  readonly handle: (
    given: RouteInput<Params, Query, Body, Found>,
  ) => Awaitable<Response | Declared<`${Uppercase<Verb>} ${Path}`>>;
}

type Awaitable<T> = Promise<T> | T;

export type LookupInput<Params, Query> = Pick<
  RouteInput<Params, Query, undefined>,
  'params' | 'query' | 'host'
>;

export interface ApiRoute {
  readonly scope: ApiScope | 'none';
  readonly signable: boolean;
  /** True if the body is bytes. */
  readonly bytes: boolean;
  readonly method: string;
  readonly path: string;
  /** Matches the paths that the route serves. */
  readonly pattern: RegExp;
  readonly document: ReturnType<typeof createRoute>;
  readonly find?: (asked: LookupInput<undefined, undefined>) => Promise<Owned | undefined>;
  readonly handle: (given: RouteInput<undefined, undefined, undefined>) => Promise<Response>;
}

export function route<
  Verb extends Method,
  Path extends string,
  const Answer extends AnswerSchema = undefined,
  Params extends Fields | undefined = undefined,
  Query extends Fields | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Found extends Owned | undefined = undefined,
>(spec: RouteSpec<Verb, Path, Answer, Params, Query, Body, Found>): ApiRoute {
  const { method, path, scope, tag, summary, id, params, query, body, status = 200 } = spec;
  const answer: AnswerSchema = spec.answer;
  const document = createRoute({
    method,
    path,
    operationId: id,
    tags: [tag],
    summary,
    security: scope === 'none' ? [] : [{ bearer: [] }],
    ...(scope === 'none' ? {} : { description: `Scope: \`${scope}\`.` }),
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(body && {
        body: { required: !spec.bodyOptional, content: { 'application/json': { schema: body } } },
      }),
      ...(spec.bytes && {
        body: { required: true, content: { '*/*': { schema: z.string().meta({ format: 'binary' }) } } },
      }),
    },
    responses: {
      [status]: { description: summary, ...(answer && { content: contentOf(answer) }) },
      default: {
        description: 'A problem document, whose code identifies the problem.',
        content: spec.fails
          ? { 'application/json': { schema: spec.fails } }
          : { 'application/problem+json': { schema: problemSchema } },
      },
    },
  });
  const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  const handle = async (given: RouteInput<Params, Query, Body, Found>) => {
    const answered = await spec.handle(given);
    return answered instanceof Response ? answered : jsonResponse(answered, status);
  };
  const { find, signable = false, bytes = false } = spec;
  // The handlers' types are erased: they are called only with input that the same spec has parsed.
  return { scope, signable, bytes, method, path, pattern, document, find, handle } as unknown as ApiRoute;
}

function contentOf(answer: z.ZodType | readonly string[]) {
  if (!Array.isArray(answer)) return { 'application/json': { schema: answer as z.ZodType } };
  return Object.fromEntries(answer.map((type: string) => [type, { schema: z.string() }]));
}
