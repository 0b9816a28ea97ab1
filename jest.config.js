/** Tests are ES modules in TypeScript; swc only erases types, `npm run typecheck` checks them. */
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } },
    ],
  },
  moduleNameMapper: {
    '^everthread$': '<rootDir>/src/index.ts',
    '^everthread/models$': '<rootDir>/src/models/index.ts',
    '^everthread/worker$': '<rootDir>/src/worker/index.ts',
    '^everthread/server$': '<rootDir>/src/server/index.ts',
    '^everthread/testing$': '<rootDir>/src/testing/index.ts',
  },
  // The long forms take minutes to an hour: `npm run test:soak`.
  testMatch: [
    process.env.EVERTHREAD_SOAK === '1' ? '<rootDir>/test/**/*.soak.ts' : '<rootDir>/test/**/*.test.ts',
  ],
  // Recording histories is a deed, not a check: `npm run record`.
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(process.env.EVERTHREAD_RECORD === '1' ? [] : ['/record\\.test\\.ts$']),
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  reporters: ['default', '<rootDir>/scripts/note-test-file.mjs'],
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  testTimeout: process.env.EVERTHREAD_SOAK === '1' ? 2 * 60 * 60_000 : 300_000,
};
