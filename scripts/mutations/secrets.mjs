/** Mutations of how secrets are removed before anything is written. */
const HOOKS = ['test/state/hook-secrets.test.ts'];
const RETURNED = 'secrets that a hook has read are taken out of what it returns';

export const SECRETS = [
  {
    name: 'the failure of a bootstrap model is stored as it came',
    rule: 'the failure of a provider is stored without secrets, whoever asked it',
    edits: [
      {
        find: 'const redact = async (text: string) => (await readRedactor({ store, registry, ...rest }, thread))(text);',
        put: 'const redact = async (text: string) => text;',
      },
    ],
    tests: ['test/conformance/runtime-07-mapping.test.ts'],
    title: 'failure of the bootstrap model',
    server: true,
  },
  {
    name: 'what a hook makes of a new message is stored as it came',
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
    name: 'what a hook makes of a changed message is stored as it came',
    rule: RETURNED,
    edits: [{ find: '{ content: redactKnown(content) }', put: '{ content }' }],
    tests: HOOKS,
  },
  {
    name: 'what a hook makes of the system message goes to the model as it came',
    rule: 'no secret that a hook has read goes to a model',
    edits: [{ find: 'redactKnown(await filterSystem(chain, text))', put: 'filterSystem(chain, text)' }],
    tests: HOOKS,
  },
  {
    name: 'what a hook makes of the messages goes to the model as it came',
    rule: 'no secret that a hook has read goes to a model',
    edits: [
      {
        find: 'redactKnown(await filterMessages(chain, messages, executionId))',
        put: 'filterMessages(chain, messages, executionId)',
      },
    ],
    tests: HOOKS,
  },
  {
    name: 'what a hook makes of the history goes to the model as it came',
    rule: 'no secret that a hook has read goes to a model',
    edits: [
      { find: 'redactKnown(await filterHistory(chain, messages))', put: 'filterHistory(chain, messages)' },
    ],
    tests: HOOKS,
  },
  {
    name: 'a file that a hook adds is named as it came',
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
    name: 'arguments of a queued tool are stored as they came',
    rule: 'what code writes beside its result holds no secret that it has read',
    edits: [{ find: 'arguments: env.redactKnown(checked)', put: 'arguments: checked' }],
    tests: ['test/conformance/definitions-16-secret.test.ts'],
    server: true,
  },
  {
    name: 'a tool’s result is stored as it came',
    rule: 'a tool’s result is redacted before it is stored or crosses Temporal',
    edits: [{ find: 'const result = await env.redact(answered);', put: 'const result = answered;' }],
    tests: ['test/conformance/definitions-16-secret.test.ts'],
    server: true,
  },
  {
    name: 'the failure of a provider is stored as it came',
    rule: 'the failure of a provider is stored without secrets, whoever asked it',
    edits: [{ find: 'await redact(result.error.message)', put: 'result.error.message' }],
    tests: ['test/conformance/definitions-16-secret.test.ts'],
    server: true,
  },
];
