/** The settings of a program: its variables, the profile of Temporal, and what it is given by itself. */
import { rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { readConfiguration } from '../../src/configuration.ts';
import { registryFrom } from '../../src/definitions/index.ts';
import { readTemporalSettings } from '../../src/temporal-settings.ts';
import { createWorker } from '../../src/worker/index.ts';
// Before a worker installs a runtime of its own, which listens for signals.
import '../once/temporal-runtime.ts';

const profile = join(tmpdir(), `profile-${process.pid}.toml`);
const certificate = join(tmpdir(), `certificate-${process.pid}.pem`);
writeFileSync(profile, '[profile.default]\naddress = "temporal.internal:7233"\n');
writeFileSync(certificate, 'certificate');
afterAll(() => {
  for (const file of [profile, certificate]) rmSync(file);
});

const VARIABLES = [
  'EVERTHREAD_STORE',
  'EVERTHREAD_TASK_QUEUE',
  'EVERTHREAD_WATCHDOG_MS',
  'EVERTHREAD_LOG',
  'EVERTHREAD_HEALTH',
  'EVERTHREAD_TEMPORAL_METRICS',
  'EVERTHREAD_API_TOKENS',
  'EVERTHREAD_ENCRYPTION_KEYS',
  'EVERTHREAD_SANDBOX_WALL',
  'EVERTHREAD_SIGNALLED_CONTENT',
  'EVERTHREAD_DEPLOYMENT',
  'EVERTHREAD_REQUESTS',
];

const TEMPORAL_VARIABLES = [
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'TEMPORAL_API_KEY',
  'TEMPORAL_PROFILE',
  'TEMPORAL_TLS',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
];

describe('a variable that is empty or blank', () => {
  it.each(VARIABLES)('counts as absent if it is %s', (name) => {
    for (const text of ['', ' \t'])
      expect(readConfiguration({ [name]: text })).toEqual(readConfiguration({}));
  });

  it.each(TEMPORAL_VARIABLES)('counts as absent if it is %s', (name) => {
    const file = { TEMPORAL_CONFIG_FILE: profile };
    for (const text of ['', ' \t'])
      expect(readTemporalSettings({}, { ...file, [name]: text })).toEqual(readTemporalSettings({}, file));
  });
});

describe('EVERTHREAD_REQUESTS', () => {
  it.each([
    ['thread', Number.POSITIVE_INFINITY],
    ['off', 0],
    ['30', 30],
  ])('is a number of days, none, or the life of the thread: %s', (text, days) => {
    expect(readConfiguration({ EVERTHREAD_REQUESTS: text }).requestDays).toBe(days);
  });

  it.each(['0', '-1', '1.5', 'forever'])('is refused if it is none of these: %s', (text) => {
    expect(() => readConfiguration({ EVERTHREAD_REQUESTS: text })).toThrow(
      `EVERTHREAD_REQUESTS is "${text}": it must be "thread", "off", or a whole number of days, 1 or more.`,
    );
  });
});

describe('a setting of Temporal', () => {
  it.each([
    [{ TEMPORAL_TLS: 'maybe' }, 'TEMPORAL_TLS is "maybe": it must be true or false.'],
    [{ TEMPORAL_TLS: 'TRUE' }, 'TEMPORAL_TLS is "TRUE": it must be true or false.'],
    [
      { TEMPORAL_CONFIG_FILE: '/none.toml' },
      /^TEMPORAL_CONFIG_FILE names a file that cannot be read: ENOENT.*none\.toml/,
    ],
    [{ TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/none.pem' }, /^TEMPORAL_TLS_SERVER_CA_CERT_PATH names a file/],
    [{ TEMPORAL_TLS_CLIENT_CERT_PATH: certificate }, /certificate has no key: set both/],
    [{ TEMPORAL_TLS_CLIENT_KEY_DATA: 'key' }, /key has no certificate: set both/],
    [
      { TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true' },
      /^TEMPORAL_TLS_DISABLE_HOST_VERIFICATION is not supported/,
    ],
    [{ TEMPORAL_CONFIG_FILE: certificate }, /cannot be read: /],
    [{ TEMPORAL_CONFIG_FILE: devNull }, /their file has no \[profile\.default\]/],
    [{ TEMPORAL_PROFILE: 'none' }, /cannot be read: Profile 'none' not found/],
  ])('is refused and named if it is %j', (environment, message) => {
    expect(() => readTemporalSettings({}, environment)).toThrow(
      expect.objectContaining({ code: 'InvalidConfiguration', message: expect.stringMatching(message) }),
    );
  });

  it.each(['http://127.0.0.1:7233', '127.0.0.1:99999', '127.0.0.1:0', 'host:port', 'a b:7233'])(
    'is refused with what to write if the address is %s',
    (address) => {
      const message = /"[^"]+": write host:port without http:\/\//;
      expect(() => readTemporalSettings({}, { TEMPORAL_ADDRESS: address })).toThrow(message);
      expect(() => readTemporalSettings({ address }, {})).toThrow(message);
    },
  );

  it.each(['localhost', '127.0.0.1:7233', '[::1]:7233', 'prod.a1b2.tmprl.cloud:7233'])(
    'may be the address %s',
    (address) => {
      expect(readTemporalSettings({}, { TEMPORAL_ADDRESS: address })).toMatchObject({
        connectionOptions: { address },
      });
    },
  );
});

describe('a client and a worker in code', () => {
  it.each([
    [{ address: 'http://127.0.0.1:7233' }, /write host:port without http/],
    [{ address: '127.0.0.1:99999' }, /write host:port without http/],
    [{ address: ' ' }, /The option address is blank/],
    [{ namespace: '' }, /The option namespace is blank/],
    [{ taskQueue: '' }, /The option taskQueue is blank/],
  ])('refuse %j before they connect', async (options, message) => {
    const refusal = { code: 'InvalidConfiguration', message: expect.stringMatching(message) };
    await expect(RuntimeClient.connect(options)).rejects.toMatchObject(refusal);
    if ('address' in options) return;
    const worker = createWorker({ projectDir: tmpdir(), registry: registryFrom({}), ...options });
    await expect(worker).rejects.toMatchObject(refusal);
  });

  it('refuse an impossible TEMPORAL_ADDRESS before they connect', async () => {
    const { TEMPORAL_ADDRESS: usual } = process.env;
    process.env.TEMPORAL_ADDRESS = 'http://127.0.0.1:7233';
    try {
      const refusal = { code: 'InvalidConfiguration', message: expect.stringMatching(/write host:port/) };
      await expect(RuntimeClient.connect()).rejects.toMatchObject(refusal);
      const worker = createWorker({ projectDir: tmpdir(), registry: registryFrom({}) });
      await expect(worker).rejects.toMatchObject(refusal);
    } finally {
      process.env.TEMPORAL_ADDRESS = usual;
    }
  });
});
