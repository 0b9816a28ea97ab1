/** The rows of the table: each runtime as its documentation recommends it, and once more without its wait for the disk. */
import { join } from 'node:path';

export interface Row {
  readonly name: string;
  /** The module of the peer; `child.ts` imports it. */
  readonly module: string;
  /** Packages whose versions the table names. */
  readonly packages: readonly string[];
  /** Where the Temporal server keeps its data; absent if the row has none. */
  readonly temporal?: 'file' | 'memory';
  /** `synchronous_commit` of the row's database; absent if the row has none. */
  readonly postgres?: 'on' | 'off';
  /** Whether Restate's log waits for the disk; absent if the row has none. */
  readonly restate?: 'fsync' | 'no fsync';
  readonly settings?: Readonly<Record<string, string>>;
  /** Where model and tool are called, seen from the loop. */
  readonly calls: string;
  /** What waits for the disk. */
  readonly disk: string;
  /** Who continues after a kill. */
  readonly resumes: string;
  /** False: only the short measures, beside the row before it. */
  readonly whole: boolean;
}

const PEERS = join(import.meta.dirname, '..', '..', 'peers');
const OURS = {
  module: join(import.meta.dirname, 'everthread.ts'),
  packages: [],
  calls: 'dispatched: up to 20 steps with short tools are one activity',
  resumes: 'itself',
};
const QUICK = { tool: 'quick' };
const SERVER_NORMAL = 'Temporal server: `synchronous=normal`';
const TEMPORAL = {
  module: join(PEERS, 'temporal.mjs'),
  packages: ['@temporalio/ai-sdk', 'ai'],
  calls: 'dispatched: two activities a step',
  resumes: 'itself',
};
const LANGGRAPH = {
  module: join(PEERS, 'langgraph.mjs'),
  packages: ['@langchain/langgraph'],
  calls: 'in process',
  resumes: 'the application, thread by thread',
};
const DBOS = {
  module: join(PEERS, 'dbos.mjs'),
  packages: ['@dbos-inc/dbos-sdk', '@dbos-inc/vercel-ai'],
  calls: 'in process',
  resumes: 'itself, at the start of its process',
};
const RESTATE = {
  module: join(PEERS, 'restate.mjs'),
  packages: ['@restatedev/restate-server', '@restatedev/restate-sdk', '@restatedev/vercel-ai-middleware'],
  calls: 'in the handler; journal at the server',
  resumes: 'itself',
};

export const ROWS: readonly Row[] = [
  {
    ...OURS,
    name: 'Everthread, SQLite, ordinary tool',
    temporal: 'file',
    disk: `store: full; ${SERVER_NORMAL}`,
    whole: true,
  },
  {
    ...OURS,
    name: 'Everthread, SQLite, quick tool',
    temporal: 'file',
    settings: QUICK,
    disk: `store: full; ${SERVER_NORMAL}`,
    whole: true,
  },
  {
    ...OURS,
    name: 'Everthread, SQLite normal, quick tool',
    temporal: 'memory',
    settings: { ...QUICK, query: '?synchronous=normal' },
    disk: 'nothing: `synchronous=normal`, Temporal server in memory',
    whole: false,
  },
  {
    ...OURS,
    name: 'Everthread, PostgreSQL, ordinary tool',
    temporal: 'file',
    postgres: 'on',
    disk: `store: \`synchronous_commit=on\`; ${SERVER_NORMAL}`,
    whole: true,
  },
  {
    ...OURS,
    name: 'Everthread, PostgreSQL, quick tool',
    temporal: 'file',
    postgres: 'on',
    settings: QUICK,
    disk: `store: \`synchronous_commit=on\`; ${SERVER_NORMAL}`,
    whole: false,
  },
  {
    ...OURS,
    name: 'Everthread, PostgreSQL off, quick tool',
    temporal: 'memory',
    postgres: 'off',
    settings: QUICK,
    disk: 'nothing: `synchronous_commit=off`, Temporal server in memory',
    whole: false,
  },
  { ...TEMPORAL, name: 'Temporal, AI SDK plugin', temporal: 'file', disk: SERVER_NORMAL, whole: true },
  {
    ...TEMPORAL,
    name: 'Temporal, AI SDK plugin, in memory',
    temporal: 'memory',
    disk: 'nothing: server in memory',
    whole: false,
  },
  {
    ...LANGGRAPH,
    name: 'LangGraph.js, PostgreSQL, sync',
    postgres: 'on',
    settings: { durability: 'sync' },
    disk: '`durability: sync`, `synchronous_commit=on`',
    whole: true,
  },
  {
    ...LANGGRAPH,
    name: 'LangGraph.js, PostgreSQL, async',
    postgres: 'off',
    settings: { durability: 'async' },
    disk: 'nothing: `durability: async` (its default), `synchronous_commit=off`',
    whole: false,
  },
  {
    ...LANGGRAPH,
    name: 'LangGraph.js, SQLite, sync',
    settings: { durability: 'sync', synchronous: 'FULL' },
    disk: '`durability: sync`, `synchronous=full`',
    whole: true,
  },
  {
    ...LANGGRAPH,
    name: 'LangGraph.js, SQLite, async',
    settings: { durability: 'async', synchronous: 'NORMAL' },
    disk: 'nothing: `durability: async` (its default), `synchronous=normal`',
    whole: false,
  },
  { ...DBOS, name: 'DBOS, PostgreSQL', postgres: 'on', disk: '`synchronous_commit=on`', whole: true },
  {
    ...DBOS,
    name: 'DBOS, PostgreSQL off',
    postgres: 'off',
    disk: 'nothing: `synchronous_commit=off`',
    whole: false,
  },
  { ...RESTATE, name: 'Restate', restate: 'fsync', disk: "its log's fsync, as by default", whole: true },
  {
    ...RESTATE,
    name: 'Restate, no fsync',
    restate: 'no fsync',
    disk: "nothing: its log's fsync is off",
    whole: false,
  },
  {
    module: join(PEERS, 'mastra.mjs'),
    packages: ['@mastra/core', '@mastra/libsql'],
    name: 'Mastra, durable agent, LibSQL',
    calls: 'in process',
    disk: "LibSQL's defaults",
    resumes: 'its own server at its start, otherwise the application, once',
    whole: true,
  },
];
