-- The quick test that most of an agent's own texts end with: can what would hold such a text be in it at all? A few
-- literals and character classes, because a regular expression of all patterns costs twenty times as much.
create or replace function pgrecall.may_be_suspicious(value text) returns boolean
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    return lower(value collate "C") like any (array[
            '%instruct%', '%ignor%', '%disregard%', '%forget%', '% rules%', '%prompt%', '%you are%', '%you''re n%', '%you must%',
            '%your %', '%never %', '%always %', '%assistant%', '% ai%', '%model%', '%agent%', '%bot%', '%llm%', '%the user%',
            '%users%', '%password%', '%secret%', '%token%', '%credential%', '% key%', '%approv%', '%system%', '%tool%',
            '%without %', '%admin%', '%memor%', '%from now%', '%from th%', '%silent%', '%http%', '%curl%', '%reveal%',
            '%repeat%', '%"name"%', '%proceed%', '%<%', '%](%', '%disable%', '%review%', '% mode%',
            '%polic%', '%pretend%', '%obey%', '%execute%', '%transfer%', '%remember%', '%the next time%', '%do not say%',
            -- rot13 and backwards
            '%vtaber%', '%vafgehpg%', '%cnffjbeq%', '%snoitcurt%', '%drowssap%'])
        or value ~ '[A-Za-z0-9+/%\\&#;]{16}|[01]{8} [01]{8}|[.-]+ [.-]+ [.-]+ |\m\w[ .*_-]{1,3}\w[ .*_-]{1,3}\w\M|[A-Za-z][013457@$!]+[A-Za-z]'
        or length(value) - length(replace(value, '-', '')) >= 3
            and lower(replace(value, '-', '')) like any (array['%ignore%', '%instruct%', '%system%', '%password%', '%previous%', '%reveal%', '%always%'])
        or octet_length(value) > length(value) and (
            value ~ '[\u00ad\u034f\u0336\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0e\ufeff\uff01-\uff5e\U0001d400-\U0001d7ff\U000e0000-\U000e01ff]'
            or value ~ '[A-Za-z][Ѐ-ӿͰ-Ͽ]|[Ѐ-ӿͰ-Ͽ][A-Za-z]'
            or lower(value) like any (array[
                '%инструкц%', '%игнор%', '%забудь%', '%правил%', '%всегда%', '%никогда%', '%отныне%', '%впредь%', '%ассистент%',
                '%помощник%', '%модел%', '%ии-%', '%агент%', '%бот%', '%пользоват%', '%пароль%', '%парол%', '%токен%', '%ключ%',
                '%систем%', '%не сообщай%', '%не говори%', '%не упоминай%', '%режим%', '%теперь%', '%разработчик%', '%притворись%',
                '%политик%', '%ограничен%', '%команд%', '%指令%', '%指示%', '%提示%', '%anweisung%', '%instruccion%',
                '%інструкц%', '%talimat%', '%instruções%', '%istruzion%', '%instrukcj%', '%consignes%', '%скопируй%', '%отправ%']));
end
$$;
