// The two generations of the TypeScript SDK behind one face, so that the checks
// are written once. Each is used as its documentation says.
import { setTimeout as sleep } from 'node:timers/promises';

/** warnings is what the SDK prints. */
export const warnings = [];
for (const level of ['debug', 'info', 'warn', 'error']) console[level] = (...said) => { warnings.push(said.join(' ')); };

const info = { name: 'sdk-check', version: '1' };

/** open connects a client of the generation to a server: { command, args } or { url, token }. */
export async function open(generation, mode, server, options = {}) {
  const face = generation === 'v1' ? new First(options) : new Second(mode, options);
  await face.start(server);
  return face;
}

class Face {
  trace = []; // every message, in order
  requests = []; // of HTTP: method, status
  errors = []; // what the client's onerror was told
  stderr = '';

  async start(server) {
    const { Client, Stdio, Http } = await this.load();
    if (server.url) {
      const headers = server.token ? { Authorization: `Bearer ${server.token}` } : {};
      this.transport = new Http(new URL(server.url), {
        requestInit: { headers },
        fetch: async (url, init) => {
          const response = await fetch(url, init);
          this.requests.push(`${init?.method ?? 'GET'} ${response.status}`);
          return response;
        },
      });
    } else {
      this.transport = new Stdio({ command: server.command, args: server.args, stderr: 'pipe' });
      this.transport.stderr?.on('data', (data) => { this.stderr += data; });
    }
    this.record();
    this.client = new Client(info, this.clientOptions());
    this.client.onerror = (error) => { if (!this.closing) this.errors.push(String(error)); };
    if (this.options.form) this.handle('elicitation/create', (request) => this.options.form(request.params));
    if (this.options.roots) this.handle('roots/list', () => ({ roots: this.options.roots() }));
    await this.client.connect(this.transport);
  }

  clientOptions() {
    const capabilities = {};
    if (this.options.form) capabilities.elicitation = { form: {} };
    if (this.options.roots) capabilities.roots = { listChanged: true };
    return { capabilities };
  }

  /** record notes what passes the transport. */
  record() {
    const { transport, trace } = this;
    const send = transport.send.bind(transport);
    transport.send = (message, ...rest) => {
      trace.push({ sent: message });
      return send(message, ...rest);
    };
    let take;
    Object.defineProperty(transport, 'onmessage', {
      configurable: true,
      get: () => take,
      set: (f) => {
        take = f && ((message, ...rest) => {
          trace.push({ got: message });
          return f(message, ...rest);
        });
      },
    });
  }


  received(method) { return this.trace.filter(({ got }) => got?.method === method).map(({ got }) => got); }

  /** until waits for a condition, at most five seconds. */
  async until(what, condition) {
    for (let waited = 0; waited < 5000; waited += 20) {
      const value = await condition();
      if (value) return value;
      await sleep(20);
    }
    throw new Error(`${what}: not within five seconds`);
  }

  async close() {
    this.closing = true;
    await this.client.close();
  }
}

class First extends Face {
  constructor(options) { super(); this.options = options; }

  async load() {
    const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'), import('@modelcontextprotocol/sdk/client/stdio.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'), import('@modelcontextprotocol/sdk/types.js'),
    ]);
    this.types = types;
    return { Client, Stdio: StdioClientTransport, Http: StreamableHTTPClientTransport };
  }

  /** revision is the one that the handshake ended in. */
  revision() { return this.trace.find(({ got }) => got?.result?.protocolVersion)?.got.result.protocolVersion; }

  handle(method, handler) {
    const schemas = { 'elicitation/create': 'ElicitRequestSchema', 'roots/list': 'ListRootsRequestSchema' };
    this.client.setRequestHandler(this.types[schemas[method]], handler);
  }

  on(method, handler) {
    const schemas = {
      'notifications/tools/list_changed': 'ToolListChangedNotificationSchema',
      'notifications/resources/updated': 'ResourceUpdatedNotificationSchema',
    };
    this.client.setNotificationHandler(this.types[schemas[method]], handler);
  }

  call(name, args = {}, options) { return this.client.callTool({ name, arguments: args }, undefined, options); }

  /** all fetches every page of a list. */
  async all(verb, key) {
    const found = [];
    for (let cursor; ;) {
      const page = await this.client[verb](cursor ? { cursor } : {});
      found.push(...page[key]);
      cursor = page.nextCursor;
      if (!cursor) return found;
    }
  }

  async subscribe({ uri }) {
    if (!uri) return { close: async () => {} }; // the older revisions tell of changed lists unasked
    await this.client.subscribeResource({ uri });
    return { close: () => this.client.unsubscribeResource({ uri }) };
  }
}

class Second extends Face {
  constructor(mode, options) { super(); this.mode = mode; this.options = options; }

  async load() {
    const [{ Client, StreamableHTTPClientTransport }, { StdioClientTransport }] = await Promise.all([
      import('@modelcontextprotocol/client'), import('@modelcontextprotocol/client/stdio'),
    ]);
    return { Client, Stdio: StdioClientTransport, Http: StreamableHTTPClientTransport };
  }

  clientOptions() {
    const mode = this.mode === 'pin' ? { pin: '2026-07-28' } : this.mode;
    return { ...super.clientOptions(), versionNegotiation: { mode } };
  }

  revision() { return this.client.getNegotiatedProtocolVersion(); }

  handle(method, handler) { this.client.setRequestHandler(method, handler); }

  on(method, handler) { this.client.setNotificationHandler(method, handler); }

  call(name, args = {}, options) { return this.client.callTool({ name, arguments: args }, options); }

  async all(verb, key) { return (await this.client[verb](undefined, { cacheMode: 'refresh' }))[key]; }

  async subscribe({ uri }) {
    if (this.mode !== 'legacy') {
      const wanted = uri ? { resourceSubscriptions: [uri] } : { toolsListChanged: true };
      const subscription = await this.client.listen(wanted);
      if (JSON.stringify(subscription.honoredFilter) !== JSON.stringify(wanted)) {
        throw new Error(`honoured ${JSON.stringify(subscription.honoredFilter)} of ${JSON.stringify(wanted)}`);
      }
      return subscription;
    }
    if (!uri) return { close: async () => {} };
    await this.client.subscribeResource({ uri });
    return { close: () => this.client.unsubscribeResource({ uri }) };
  }
}
