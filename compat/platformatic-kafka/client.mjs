// client.mjs BOOTSTRAP: @platformatic/kafka, asked in JSON lines.

import { Admin, Consumer, Producer } from '@platformatic/kafka'
import { Cannot, data, serve, sleep, text } from './adapter.mjs'
import { groupAsks, memberAsks, members } from './groups.mjs'
import { transactionAsks } from './transactions.mjs'

const WAIT_MS = 20_000
const RESOURCES = { topic: 2, broker: 4 }
const OPERATIONS = { SET: 0, DELETE: 1, APPEND: 2, SUBTRACT: 3 }
const CONTROL = 0x20
const OFFSET_OUT_OF_RANGE = 1
const UNKNOWN_TOPIC_OR_PARTITION = 3
const common = { clientId: 'compat', bootstrapBrokers: [process.argv[2]], retries: 3, retryDelay: 100, metadataMaxAge: 0 }

const cannot = {
  leader_epoch: 'ask for the end of a leader epoch'
}

/** The protocol's code is in the error, or in one of those that it was made of. */
function codeOf (error) {
  if (error == null) {
    return null
  }
  if (typeof error.apiCode === 'number') {
    return error.apiCode
  }
  if (/^Unknown topic /.test(error.message)) {
    return UNKNOWN_TOPIC_OR_PARTITION // in the client's words, without the code
  }
  // What the client refuses before it asks the broker.
  if (error.code === 'PLT_KFK_USER' && !error.errors && !error.cause) {
    return `client: ${error.message}`
  }
  for (const inner of [...(error.errors ?? []), error.cause]) {
    const code = codeOf(inner)
    if (code !== null) {
      return code
    }
  }
  return null
}

async function using (client, action) {
  try {
    return await action(client)
  } finally {
    await client.close()
  }
}

function withAdmin (action, options) {
  return using(new Admin({ ...common, ...options }), action)
}

/** One topic of Metadata. The client asks again while a topic is not ready, so it is told to ask once. */
function described (topic) {
  return withAdmin(async admin => {
    const metadata = await admin.metadata({ topics: [topic], autocreateTopics: false, forceUpdate: true })
    return metadata.topics.get(topic)
  }, { retries: 0 })
}

const topicAsks = {
  create: async ({ topic, partitions, replicas, configs, validate_only: validateOnly, assignment }) => {
    if (validateOnly) {
      throw new Cannot('validate without creating a topic')
    }
    await withAdmin(admin => admin.createTopics({
      topics: [topic],
      partitions,
      replicas,
      configs: Object.entries(configs).map(([name, value]) => ({ name, value })),
      assignments: assignment?.map((brokers, partition) => ({ partition, brokers }))
    }))
  },
  delete: ({ topic }) => withAdmin(admin => admin.deleteTopics({ topics: [topic] })),
  delete_records: ({ topic, partition, before }) => withAdmin(async admin => {
    const topics = [{ name: topic, partitions: [{ partition, offset: BigInt(before) }] }]
    const [deleted] = await admin.deleteRecords({ topics })
    return deleted.partitions[0].lowWatermark
  }),
  log_dirs: ({ topic }) => withAdmin(async admin => {
    const { partitionsCount } = await described(topic)
    const [found] = await admin.describeLogDirs({ topics: [{ name: topic, partitions: [...Array(partitionsCount).keys()] }] })
    return found.results.flatMap(dir => dir.topics).flatMap(t => t.partitions).map(p => p.partitionSize)
  }),
  grow: ({ topic, total, validate_only: validateOnly = false }) => withAdmin(admin =>
    admin.createPartitions({ topics: [{ name: topic, count: total, assignments: [] }], validateOnly })),
  partitions: async ({ topic }) => (await described(topic)).partitionsCount,
  shape: async ({ topic }) => (await described(topic)).partitions.map((p, index) => [index, p.replicas.length, p.isr.length, p.leader >= 0]),
  topic_id: async ({ topic }) => (await described(topic)).id,
  topics: () => withAdmin(admin => admin.listTopics({ includeInternals: true })),
  cluster: () => withAdmin(async admin => {
    const found = await admin.metadata({ topics: [] })
    const [first] = found.brokers.values()
    return { nodes: [...found.brokers.keys()], controller: found.controllerId, id: Boolean(found.id), host: first.host }
  }),
  api_versions: () => withAdmin(async admin => {
    const apis = await admin.listApis()
    return Object.fromEntries(apis.map(api => [api.apiKey, [api.minVersion, api.maxVersion]]))
  }),
  coordinator: ({ group }) => withAdmin(async admin => (await admin.findCoordinator({ keyType: 0, keys: [group] }))[0].nodeId),
  producer_id: () => using(new Producer(common), async producer => {
    const told = await producer.initIdempotentProducer({})
    return [told.producerId, told.producerEpoch]
  })
}

const configAsks = {
  configs: ({ kind, name }) => withAdmin(async admin => {
    const resources = [{ resourceType: RESOURCES[kind], resourceName: name }]
    const [found] = await admin.describeConfigs({ resources, includeSynonyms: true, includeDocumentation: true })
    return Object.fromEntries(found.configs.map(told))
  }),
  alter: ({ kind, name, changes, validate_only: validateOnly = false }) => withAdmin(async admin => {
    if (kind === 'broker' && !name) {
      throw new Cannot('name the cluster in a config request, only one broker')
    }
    const configs = changes.map(([name, operation, value]) => ({ name, configOperation: OPERATIONS[operation], value }))
    await admin.incrementalAlterConfigs({ resources: [{ resourceType: RESOURCES[kind], resourceName: name, configs }], validateOnly })
  }),
  alter_all: ({ topic, configs }) => withAdmin(async admin => {
    const all = Object.entries(configs).map(([name, value]) => ({ name, value }))
    await admin.alterConfigs({ resources: [{ resourceType: RESOURCES.topic, resourceName: topic, configs: all }] })
  })
}

function told (entry) {
  return [entry.name, {
    value: entry.value,
    source: entry.configSource,
    type: entry.configType,
    read_only: entry.readOnly,
    sensitive: entry.isSensitive,
    documented: Boolean(entry.documentation),
    synonyms: entry.synonyms.map(s => [s.name, s.value, s.source])
  }]
}

function produce ({ topic, partition, batches, codec = 'none', acks = -1, idempotent = true, auto_create: autocreateTopics = false }) {
  return using(new Producer({ ...common, retries: 5 }), async producer => {
    const offsets = []
    for (const batch of batches) {
      const messages = batch.map(record => message(topic, partition, record))
      const done = await producer.send({ messages, compression: codec, acks, idempotent, autocreateTopics })
      const base = done.offsets?.[0]?.offset
      batch.forEach((_, n) => offsets.push(base == null ? -1 : Number(base) + n))
    }
    return offsets
  })
}

function message (topic, partition, { key, value, headers, timestamp }) {
  const sent = { topic, partition, key: data(key), value: data(value) }
  if (headers) {
    // Each name is a Buffer of its own, so that a name may come twice.
    sent.headers = new Map(headers.map(([name, value]) => [data(name), data(value)]))
  }
  return timestamp == null ? sent : { ...sent, timestamp: BigInt(timestamp) }
}

function withConsumer (action) {
  return using(new Consumer({ ...common, groupId: 'unused' }), action)
}

function offset ({ topic, partition, at, committed = false }) {
  return withAdmin(async admin => {
    const asked = [{ name: topic, partitions: [{ partitionIndex: partition, timestamp: BigInt(at) }] }]
    const [found] = await admin.listOffsets({ topics: asked, isolationLevel: committed ? 1 : 0 })
    const [one] = found.partitions
    return [one.offset, one.timestamp]
  })
}

/** By fetch, since consume joins a group. */
function read ({ topic, partition, start, end, count, committed, max_bytes: maxBytes = 1_048_576, max_wait_ms: maxWaitTime = 100, reset }) {
  if (reset === 'earliest') {
    throw new Cannot('go to the earliest offset by itself outside of a group')
  }
  return withConsumer(async consumer => {
    const nothingToCome = end != null && start >= end
    const deadline = Date.now() + (nothingToCome ? 300 : WAIT_MS)
    const records = []
    while (Date.now() < deadline) {
      const next = records.length > 0 ? records.at(-1).offset + 1 : start
      const found = await fetched({ consumer, topic, partition, next, committed, maxBytes, maxWaitTime })
      records.push(...found.filter(r => r.offset >= next))
      if (count != null && records.length >= count) {
        return records.slice(0, count)
      }
      if (end != null && records.length > 0 && records.at(-1).offset >= end - 1) {
        return records
      }
    }
    if (!nothingToCome) {
      throw new Error(`${records.length} records, then nothing`)
    }
    return records
  })
}

async function fetched ({ consumer, topic, partition, next, committed, maxBytes, maxWaitTime }) {
  try {
    const metadata = await consumer.metadata({ topics: [topic], autocreateTopics: false })
    const { id, partitions } = metadata.topics.get(topic)
    const wanted = { partition, currentLeaderEpoch: -1, fetchOffset: BigInt(next), lastFetchedEpoch: -1, partitionMaxBytes: maxBytes }
    const answer = await consumer.fetch({
      node: partitions[partition].leader,
      topics: [{ topicId: id, partitions: [wanted] }],
      minBytes: 1,
      maxBytes,
      maxWaitTime,
      isolationLevel: committed ? 1 : 0
    })
    return answer.responses.flatMap(t => t.partitions).flatMap(p => p.records ?? []).filter(batch => !(batch.attributes & CONTROL)).flatMap(shown)
  } catch (error) {
    const code = codeOf(error)
    if (code === null || code === OFFSET_OUT_OF_RANGE) {
      throw error
    }
    await sleep(100) // a view that is not there yet
    return []
  }
}

function shown (batch) {
  return batch.records.map(r => ({
    offset: Number(batch.firstOffset) + r.offsetDelta,
    key: text(r.key),
    value: text(r.value),
    headers: r.headers.map(([name, value]) => [text(name), text(value)]),
    timestamp: Number((batch.attributes & 8) ? batch.maxTimestamp : batch.firstTimestamp + r.timestampDelta)
  }))
}

const ofGroups = { ...memberAsks(common), ...groupAsks(withAdmin) }
const ofRecords = { produce, offset, read, ...transactionAsks(common, members, message) }
await serve({ ...topicAsks, ...configAsks, ...ofGroups, ...ofRecords }, cannot, codeOf)
