/** The thread in which schemas of senders are interpreted: one schema, then its value, one answer to each message. */
import { parentPort } from 'node:worker_threads';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker';
import type { FromSchemaThread, ToSchemaThread } from './interpreted-schema.ts';

const MAX_PROBLEM_CHARS = 8000;
const interpreter = new CfWorkerJsonSchemaValidator({ draft: '2020-12', shortcircuit: true });
let check: ReturnType<typeof interpreter.getValidator> | undefined;

/** The interpreter asks for names with `in`: an object must have no others than its own. */
function ownOnly(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ownOnly);
  if (typeof value !== 'object' || value === null) return value;
  const own = Object.create(null) as Record<string, unknown>;
  for (const [name, each] of Object.entries(value)) own[name] = ownOnly(each);
  return own;
}

parentPort?.on('message', (message: ToSchemaThread) => {
  let problems: FromSchemaThread = null;
  if (message.kind === 'schema') check = interpreter.getValidator(message.schema);
  else problems = check?.(ownOnly(message.value)).errorMessage?.slice(0, MAX_PROBLEM_CHARS) ?? null;
  parentPort?.postMessage(problems);
});
