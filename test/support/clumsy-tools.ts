/**
 * Tools that misbehave, each in a different way, with the outcome that their threads must report. Each entry of the
 * table is one tool: a new kind of fault is a new entry.
 */
import { EventEmitter } from 'node:events';
import { createReadStream } from 'node:fs';
import { exit } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import type { ToolDefinition } from '../../src/core/author/registry.ts';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { defineTool } from '../../src/definitions/index.ts';

export interface ClumsyTool {
  readonly name: string;
  readonly kind?: Partial<Pick<ToolDefinition, 'idempotent' | 'quick' | 'timeoutMs'>>;
  readonly body: (state: ThreadState) => unknown;
  /** Status of the tool message that the model reads. */
  readonly status: 'success' | 'error';
  readonly says: RegExp;
  /** The stray fault that the thread's log reports, if any. */
  readonly stray?: RegExp;
}

const float = (thrown: unknown) => void Promise.reject(thrown);
const later = (act: () => void) => void setTimeout(act, 20);
const raise = (thrown: unknown): never => {
  throw thrown;
};
const trap = () => raise(new Error('a trap'));
const trapped = () =>
  new Proxy(
    {},
    Object.fromEntries(
      Object.getOwnPropertyNames(Reflect).map((name) => [name, trap]),
    ) as ProxyHandler<object>,
  );
const nested = (depth: number) => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
};

/** The table fixes the tools' names and signatures; types do not restrict what their bodies do. */
export const CLUMSY: readonly ClumsyTool[] = [
  // Stray faults: errors in code that nothing awaits.
  { name: 'floats', body: () => float(new Error('afloat')), ...good(/returned nothing/), stray: /afloat/ },
  {
    name: 'floats_again',
    kind: { idempotent: true },
    body: () => float(new Error('afloat again')),
    ...good(/returned nothing/),
    stray: /afloat again/,
  },
  {
    name: 'floats_quickly',
    kind: { quick: true },
    body: () => float(new Error('afloat quickly')),
    ...good(/returned nothing/),
    stray: /afloat quickly/,
  },
  {
    name: 'floats_nothing',
    body: () => float(undefined),
    ...good(/returned nothing/),
    stray: /undefined/,
  },
  {
    name: 'floats_a_trap',
    body: () => float(trapped()),
    ...good(/returned nothing/),
    stray: /cannot be read/,
  },
  {
    name: 'floats_a_frozen_object',
    body: () => float(Object.freeze({ code: 17 })),
    ...good(/returned nothing/),
    stray: /{"code":17}/,
  },
  {
    name: 'floats_ten_thousand',
    body: () => {
      for (let count = 0; count < 10_000; count++) float(new Error('one of many'));
    },
    ...good(/returned nothing/),
    stray: /one of many/,
  },
  {
    name: 'rejects_late',
    body: () => later(() => float(new Error('late rejection'))),
    ...good(/returned nothing/),
    stray: /late rejection/,
  },
  {
    name: 'throws_late',
    body: () => later(() => raise(new Error('late throw'))),
    ...good(/returned nothing/),
    stray: /late throw/,
  },
  {
    name: 'throws_beside',
    body: async () => {
      process.nextTick(() => raise(new Error('beside')));
      await delay(20);
    },
    ...good(/returned nothing/),
    stray: /beside/,
  },
  {
    name: 'emits_an_error',
    body: () => later(() => void new EventEmitter().emit('error', new Error('unheard'))),
    ...good(/returned nothing/),
    stray: /unheard/,
  },
  {
    name: 'streams_an_error',
    body: () => void createReadStream('/no/such/file'),
    ...good(/returned nothing/),
    stray: /ENOENT/,
  },
  {
    name: 'leaves_a_generator',
    body: async () => {
      async function* count() {
        yield 1;
        throw new Error('generator');
      }
      const counting = count();
      await counting.next();
      void counting.next();
    },
    ...good(/returned nothing/),
    stray: /generator/,
  },
  // Calls that would end or change the process.
  { name: 'exits', body: () => process.exit(3), ...bad(/ProcessCallRefused.*process\.exit/) },
  { name: 'exits_by_import', body: () => exit(3), ...bad(/ProcessCallRefused.*process\.exit/) },
  {
    name: 'exits_late',
    body: () => later(() => process.exit(0)),
    ...good(/returned nothing/),
    stray: /ProcessCallRefused/,
  },
  { name: 'aborts', body: () => process.abort(), ...bad(/ProcessCallRefused.*process\.abort/) },
  {
    name: 'kills_its_worker',
    body: () => process.kill(process.pid, 'SIGKILL'),
    ...bad(/ProcessCallRefused.*process\.kill/),
  },
  { name: 'moves_its_worker', body: () => process.chdir('/'), ...bad(/ProcessCallRefused.*process\.chdir/) },
  // Odd throws.
  { name: 'throws_null', body: () => raise(null), ...bad(/: No reason was given \(null was thrown\)\.$/) },
  { name: 'throws_a_symbol', body: () => raise(Symbol('odd')), ...bad(/Symbol\(odd\)/) },
  { name: 'throws_an_object', body: () => raise({ code: 17 }), ...bad(/{"code":17}/) },
  {
    name: 'throws_a_bare_object',
    body: () => raise(Object.assign(Object.create(null), { code: 18 })),
    ...bad(/{"code":18}/),
  },
  { name: 'throws_a_function', body: () => raise(() => undefined), ...bad(/\[function\]/) },
  { name: 'throws_a_trap', body: () => raise(trapped()), ...bad(/cannot be read/) },
  {
    name: 'throws_a_stack_that_throws',
    body: () => raise(Object.defineProperty(new Error('no stack'), 'stack', { get: trap })),
    ...bad(/cannot be read/),
  },
  {
    name: 'throws_50_mb',
    body: () => raise(new Error('x'.repeat(5e7))),
    ...bad(/a string of 50000000 characters/),
  },
  // Odd results.
  {
    name: 'returns_a_getter',
    body: () => ({
      status: 'success',
      get result() {
        return trap();
      },
    }),
    ...good(/^\(Parts of what it returned could not be written: a trap\)$/),
  },
  {
    name: 'returns_a_trap',
    // An await reads its `then`, so it is its body that throws.
    body: () => trapped(),
    ...bad(/a trap/),
  },
  { name: 'returns_a_trap_inside', body: () => [1, trapped()], ...good(/^\[1,\{"\$unwritten":"a trap"\}\]/) },
  {
    name: 'attaches_a_trap',
    body: () => ({ status: 'success', result: 'paid', attachments: [trapped()] }),
    ...good(/^paid\n\(The attachments that it returned could not be read: a trap\)$/),
  },
  {
    name: 'attaches_no_list',
    body: () => ({ status: 'success', result: 'paid', attachments: 'receipt' }),
    ...good(/^paid\n\(The attachments that it returned could not be read: "attachments" must be a list\.\)$/),
  },
  {
    name: 'attaches_a_missing_file',
    body: () => ({ status: 'success', result: 'paid', attachments: ['/receipt.pdf'] }),
    ...good(/^paid\n\(The attachments could not be stored: Thread .* has no file "\/receipt\.pdf"/),
  },
  {
    name: 'returns_a_thenable_that_throws',
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested.
    body: () => ({ then: trap }),
    ...bad(/a trap/),
  },
  {
    name: 'returns_a_thenable_that_never_calls',
    kind: { timeoutMs: 300 },
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested.
    body: () => ({ then: () => undefined }),
    ...bad(/did not answer within 300 ms/),
  },
  {
    name: 'returns_50_mb',
    body: () => 'x'.repeat(50 * 1024 * 1024),
    ...good(
      /^x+\n\(4\d{7} characters are left out here\. The whole text is in the file \/results\/[\w.-]+\.txt\.\)\nx+$/,
    ),
  },
  {
    name: 'returns_depth',
    body: () => ({ status: 'success', result: nested(200_000) }),
    ...good(/^\[{200}\{"\$unwritten":"it is nested deeper than 200 levels"\}\]{200}\n/),
  },
  {
    name: 'returns_a_cycle',
    body: () => {
      const ring: Record<string, unknown> = {};
      ring.ring = ring;
      return ring;
    },
    ...good(/^\{"ring":\{"\$ref":"cycle"\}\}$/),
  },
  { name: 'returns_a_bigint', body: () => ({ amount: 1n }), ...good(/^\{"amount":"1"\}$/) },
  {
    name: 'returns_a_foreign_status',
    body: () => ({ status: 'failed', result: 'no card' }),
    ...good(/^\{"status":"failed","result":"no card"\}$/),
  },
  {
    name: 'leaves_a_function_in_its_scratch',
    body: (state) => {
      Object.assign(state.context, { done: () => 1 });
      return 'paid';
    },
    ...good(/^paid$/),
  },
  // Endless work, memory, and the environment.
  {
    name: 'recurses',
    body: function deeper(): number {
      return deeper() + 1;
    },
    ...bad(/call stack/),
  },
  {
    name: 'never_settles',
    kind: { timeoutMs: 300 },
    body: () => new Promise(() => undefined),
    ...bad(/did not answer within 300 ms/),
  },
  {
    name: 'blocks',
    body: () => {
      const end = performance.now() + 300;
      while (performance.now() < end);
      return 'blocked';
    },
    ...good(/blocked/),
  },
  {
    name: 'leaks',
    body: () => {
      const emitter = new EventEmitter();
      for (let count = 0; count < 500; count++) {
        process.on('warning', () => undefined);
        setInterval(() => emitter.emit('tick'), 1000).unref();
      }
      return 'leaked';
    },
    ...good(/leaked/),
  },
  {
    name: 'changes_its_environment',
    body: () => {
      process.env.EVERTHREAD_STORE = 'sqlite:elsewhere.db';
      process.env.TEMPORAL_ADDRESS = '127.0.0.1:1';
      return 'changed';
    },
    ...good(/changed/),
  },
];

function good(says: RegExp): Pick<ClumsyTool, 'status' | 'says'> {
  return { status: 'success', says };
}

function bad(says: RegExp): Pick<ClumsyTool, 'status' | 'says'> {
  return { status: 'error', says };
}

export function clumsyTools(begun: (name: string) => void): Record<string, ToolDefinition> {
  return Object.fromEntries(
    CLUMSY.map(({ name, kind, body }) => [
      name,
      defineTool({
        description: name.replaceAll('_', ' '),
        ...kind,
        execute: (state) => {
          begun(name);
          return body(state) as never;
        },
      }) as ToolDefinition,
    ]),
  );
}
