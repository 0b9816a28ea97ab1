/**
 * Runs third-party tools on an OpenAPI document: `node openapi-tools.ts DOCUMENT CLIENT` prints the problems that a
 * linter finds, as JSON, and writes a generated client. It is a separate process because both tools load slowly in a
 * test's realm.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { generateSource } from 'oazapfts';

const [document = '', client = ''] = process.argv.slice(2);
// Every error response is declared as `default`, which covers all status codes.
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
