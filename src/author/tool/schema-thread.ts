/** The thread in which schemas of senders are interpreted: one schema, then its value, one answer to each message. */
import { parentPort } from 'node:worker_threads';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker';
import type { FromSchemaThread, ToSchemaThread } from './interpreted-schema.ts';

const MAX_PROBLEM_CHARS = 8000;
const interpreter = new CfWorkerJsonSchemaValidator({ draft: '2020-12', shortcircuit: true });
let check: ReturnType<typeof interpreter.getValidator> | undefined;

parentPort?.on('message', (message: ToSchemaThread) => {
  let problems: FromSchemaThread = null;
  if (message.kind === 'schema') check = interpreter.getValidator(message.schema);
  else problems = check?.(message.value).errorMessage?.slice(0, MAX_PROBLEM_CHARS) ?? null;
  parentPort?.postMessage(problems);
});
