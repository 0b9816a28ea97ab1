/**
 * What programs of others make of an OpenAPI document: `node openapi-tools.ts DOCUMENT CLIENT` prints what a linter has to say of it, as JSON, and
 * writes a client that is generated from it. A process of its own: neither is loaded into a test's realm, where loading takes long.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { generateSource } from 'oazapfts';

const [document = '', client = ''] = process.argv.slice(2);
// Every problem is the answer `default`: it has the codes of all statuses.
const rules = { 'operation-4xx-response': 'off' } as const;
const problems = await lintFromString({
  source: readFileSync(document, 'utf8'),
  absoluteRef: document,
  config: await createConfig({ extends: ['recommended'], rules }),
});
writeFileSync(client, await generateSource(document));
console.log(
  JSON.stringify(
    problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`),
  ),
);
