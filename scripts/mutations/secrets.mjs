/** Mutations of how secrets are removed before anything is written. */
const HOOKS = ['test/author/hook-secrets.test.ts'];
const RETURNED = 'secrets that a hook has read are redacted from what it returns';

export const SECRETS = [
  {
    name: 'the error of a bootstrap model is stored without redaction',
    rule: 'provider errors are redacted before they are stored, whoever called the provider',
    edits: [
      {
        find: 'pass, thread.id),\n    redact: async (text) => (await readRedactor(ports, thread))(text),',
        put: 'pass, thread.id),\n    redact: async (text) => text,',
      },
    ],
    tests: ['test/conformance/runtime-07-mapping.test.ts'],
    title: 'error of the bootstrap model',
    server: true,
  },
  {
    name: 'a new message that a hook changed is stored without redaction',
    rule: RETURNED,
    edits: [
      {
        find: 'return { ...row, ...options.redactKnown(fields), attachments: files };',
        put: 'return { ...row, ...fields, attachments: files };',
      },
    ],
    tests: HOOKS,
  },
  {
    name: 'an updated message that a hook changed is stored without redaction',
    rule: RETURNED,
    edits: [{ find: 'redactKnown({ ...fields, ...(typeof', put: '({ ...fields, ...(typeof' }],
    tests: HOOKS,
  },
  {
    name: 'a system message that a hook changed is sent to the model without redaction',
    rule: 'a secret that a hook has read is never sent to a model',
    edits: [{ find: 'redactKnown(await filterSystem(chain, text))', put: 'filterSystem(chain, text)' }],
    tests: HOOKS,
  },
  {
    name: 'messages that a hook changed are sent to the model without redaction',
    rule: 'a secret that a hook has read is never sent to a model',
    edits: [
      {
        find: 'redactKnown(await filterMessages(chain, messages, executionId))',
        put: 'filterMessages(chain, messages, executionId)',
      },
    ],
    tests: HOOKS,
  },
  {
    name: 'a history that a hook changed is sent to the model without redaction',
    rule: 'a secret that a hook has read is never sent to a model',
    edits: [
      { find: 'redactKnown(await filterHistory(chain, messages))', put: 'filterHistory(chain, messages)' },
    ],
    tests: HOOKS,
  },
  {
    name: 'the name of a file that a hook adds is not redacted',
    rule: RETURNED,
    edits: [
      {
        find: 'storeAttachments(files, redactKnown(attachments))',
        put: 'storeAttachments(files, attachments)',
      },
    ],
    tests: HOOKS,
  },
  {
    name: 'arguments of a queued tool are stored without redaction',
    rule: 'everything that author code writes is redacted of the secrets that it has read',
    edits: [{ find: 'arguments: env.redactKnown(checked)', put: 'arguments: checked' }],
    tests: ['test/conformance/definitions-16-secret.test.ts'],
    server: true,
  },
  {
    name: 'a tool result is stored without redaction',
    rule: 'a tool result is redacted before it is stored or returned to Temporal',
    edits: [{ find: 'const result = await env.redact(answered);', put: 'const result = answered;' }],
    tests: ['test/conformance/definitions-16-secret.test.ts'],
    server: true,
  },
  {
    name: 'a provider error is stored without redaction',
    rule: 'provider errors are redacted before they are stored, whoever called the provider',
    edits: [{ find: 'await redact(result.error.message)', put: 'result.error.message' }],
    tests: ['test/conformance/definitions-16-secret.test.ts'],
    server: true,
  },
];
